/** The guards of the limits of people, besides those of their clients. See guards.mjs. */

const CALLER_ROW = 'src/access/callers/caller.ts';
const REQUESTERS = 'src/admin/approvals/requesters.ts';
const SCHEMA = 'prisma/migrations/20261124000000_init/migration.sql';
const APPROVALS = 'test/approvals/approvals-persons.full.spec.ts';

export const PERSONS = [
  {
    name: 'person-item-held',
    guards: 'a held call with an item that its person may not pay any more',
    edits: [[CALLER_ROW, 'own ? `coalesce', 'own && false ? `coalesce']],
    noticedBy: APPROVALS,
    test: 'apply to an item when it is approved',
  },
  {
    name: 'person-revoked-held',
    guards: 'a held call of a person who was revoked',
    edits: [[REQUESTERS, "NOT IN ('key', 'claimed')", "NOT IN ('key', 'claimed', 'token')"]],
    noticedBy: APPROVALS,
    test: 'is impossible after a revocation of the requester if the credential was theirs',
  },
  {
    name: 'person-unknown',
    guards: 'a payment for a person whom the database does not have',
    edits: [['src/policy/limits/caps.ts', "({ kind: 'unknown_payer' } as const)", 'undefined']],
    noticedBy: 'test/people/payers.full.spec.ts',
    test: 'is not sent, and the person is added',
  },
  {
    name: 'merged-spending',
    guards: 'the cap of a human who has spent under two names',
    edits: [[SCHEMA, 'FROM payers_like(payer) AS alike', 'FROM (SELECT payer AS payer_id) AS alike']],
    noticedBy: 'test/people/person-caps.spec.ts',
    test: 'equal the sum paid for each human, and refuse only what exceeds them',
  },
  {
    name: 'merged-spending-at-once',
    guards: 'the cap of a human who pays under two names at once',
    edits: [[SCHEMA, 'PARTITION BY c.counts_as', 'PARTITION BY c.payer_id']],
    noticedBy: 'test/people/person-caps.spec.ts',
    test: 'equal the sum paid for each human, and refuse only what exceeds them',
  },
  {
    name: 'merged-spending-decided',
    guards: 'the cap of a human who pays under two names, in a decision about many requests',
    edits: [['src/policy/limits/caps.ts', 'isPayer(caps) ? caps.alike : [caps]', '[caps]']],
    noticedBy: 'src/policy/limits/payer-caps.spec.ts',
    test: 'are never exceeded, and refuse nothing that fits',
  },
];
