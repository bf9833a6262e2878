/** Guards of the data that `audit verify` compares in addition to the records. */

const INDEX = 'src/history/log/verify/search-index.ts';
const EVIDENCE = 'src/history/log/verify/evidence.ts';

export const AUDIT_EVIDENCE = [
  {
    name: 'erased-salt',
    guards: 'an erased recipient whose commitment can be compared with guesses, by the salt of the others',
    edits: [
      [
        'src/journal/records/recipients.ts',
        'return { people, peopleSalt: null };',
        'return { ...stored, people };',
      ],
    ],
    noticedBy: 'test/history/verify/documents.full.spec.ts',
    test: 'still commits to the others, and opens nobody, once recipients are erased',
  },
  {
    name: 'later-columns',
    guards: 'changed leaves of earlier refusals after a new column',
    edits: [['src/history/log/kinds.ts', '    for (const column of added) values.delete(column);\n', '']],
    noticedBy: 'src/journal/records/new-member.full.spec.ts',
    test: 'keeps the leaves of earlier refusals unchanged',
  },
  {
    name: 'index-entries',
    guards: 'a payout hidden by a change of its entry in the search index',
    edits: [
      [
        INDEX,
        "WHERE ${[...different, ...NAMES.map(({ differs }) => differs)].join(' OR ')}",
        'WHERE c.call_id IS NULL OR e.call_id IS NULL',
      ],
    ],
    noticedBy: 'test/history/verify/verify-search-index.full.spec.ts',
    test: 'detects a change of any column of an entry, an amount, a name or a slice',
  },
  {
    name: 'index-names',
    guards: 'a payout hidden by a change of a hash of its names',
    edits: [[INDEX, '[...different, ...NAMES.map(({ differs }) => differs)]', 'different']],
    noticedBy: 'test/history/verify/verify-search-index.full.spec.ts',
    test: 'detects a change of any column of an entry, an amount, a name or a slice',
  },
  {
    name: 'index-definitions',
    guards: "functions and views of searches replaced by the database's owner",
    edits: [[INDEX, '  await requireDefinitions(query);\n', '']],
    noticedBy: 'test/history/verify/verify-search-index.full.spec.ts',
    test: 'detects that a function of the entries was replaced',
  },
  {
    name: 'read-evidence',
    guards: 'changes of the readings and matches of reconciliation',
    edits: [[EVIDENCE, "e.evidence ->> '${table}' IS DISTINCT FROM h.hash", 'h.hash IS NULL AND FALSE']],
    noticedBy: 'test/history/verify/verify-evidence.full.spec.ts',
  },
  {
    name: 'unsigned-erasure-of-evidence',
    guards: 'people of a transaction removed without a signed erasure',
    edits: [[EVIDENCE, '  await requireErasures(client, excuses);\n', '']],
    noticedBy: 'test/history/verify/verify-evidence.full.spec.ts',
    test: 'detects missing people of a transaction without a signed erasure',
  },
  {
    name: 'returned-fee',
    guards: 'sums that include fees of returned payouts',
    edits: [
      [
        'src/operations/lifecycle/sums-sql.ts',
        'isOneOf(last, COUNTED)',
        "isOneOf(last, ['paid', 'pending', 'failed', 'reversed', 'refunded'])",
      ],
    ],
    noticedBy: 'test/history/search/payout-sums.spec.ts',
    test: 'match the money of the upstream, and have one country for all its spellings',
  },
  {
    name: 'one-country',
    guards: 'filters and sums split by several spellings of a country',
    edits: [
      [
        'src/journal/lookups/search-terms.ts',
        'termOf(TAGS.country, canonicalCountry(country))',
        'termOf(TAGS.country, country)',
      ],
    ],
    noticedBy: 'test/history/search/audit-search.spec.ts',
  },
  {
    name: 'known-countries',
    guards: "a misspelt name in a client's list of countries, which never matches",
    edits: [
      ['src/access/clients/grants.ts', 'if (faults.length === 0) return;', 'if (faults.length >= 0) return;'],
    ],
    noticedBy: 'test/limits/countries.spec.ts',
    test: 'reject unknown countries of a new or changed client, and suggest the nearest name',
  },
  {
    name: 'known-countries-of-keys',
    guards: "a misspelt name in an ephemeral key's list of countries",
    edits: [
      [
        'src/credentials/ephemeral-keys/ephemeral-keys.controller.ts',
        'if (unknown.length > 0) throw',
        'if (unknown.length < 0) throw',
      ],
    ],
    noticedBy: 'test/access/keys/ephemeral-keys.spec.ts',
    test: 'rejects unknown countries',
  },
];
