/** Guards of people's limits, in addition to those of their clients. */

const CALLER_ROW = 'src/access/callers/caller.ts';
const REQUESTERS = 'src/admin/approvals/requesters.ts';
const SCHEMA = 'prisma/migrations/20261124000000_init/migration.sql';
const APPROVALS = 'test/approvals/approvals-persons.full.spec.ts';

export const PERSONS = [
  {
    name: 'person-item-held',
    guards: "a held call with an item above its person's new limit",
    edits: [[CALLER_ROW, 'own ? `coalesce', 'own && false ? `coalesce']],
    noticedBy: APPROVALS,
    test: 'apply to an item when it is approved',
  },
  {
    name: 'person-revoked-held',
    guards: 'a held call of a revoked person',
    edits: [[REQUESTERS, "NOT IN ('key', 'claimed')", "NOT IN ('key', 'claimed', 'token')"]],
    noticedBy: APPROVALS,
    test: 'is impossible after a revocation of the requester with their own credential',
  },
  {
    name: 'person-unknown',
    guards: 'a payment for a person missing from the database',
    edits: [['src/policy/limits/caps.ts', "({ kind: 'unknown_payer' } as const)", 'undefined']],
    noticedBy: 'test/people/payers.full.spec.ts',
    test: 'is not sent, and the person is added',
  },
  {
    name: 'merged-spending',
    guards: 'a fresh cap under the second name of a human',
    edits: [[SCHEMA, 'FROM payers_like(payer) AS alike', 'FROM (SELECT payer AS payer_id) AS alike']],
    noticedBy: 'test/people/person-caps.spec.ts',
    test: 'equal the sum paid for each human, and refuse only what exceeds them',
  },
  {
    name: 'merged-spending-at-once',
    guards: 'a cap exceeded by simultaneous payments under two names',
    edits: [[SCHEMA, 'PARTITION BY c.counts_as', 'PARTITION BY c.payer_id']],
    noticedBy: 'test/people/person-caps.spec.ts',
    test: 'equal the sum paid for each human, and refuse only what exceeds them',
  },
  {
    name: 'merged-spending-decided',
    guards: 'a cap exceeded under two names within one batch of decisions',
    edits: [['src/policy/limits/caps.ts', 'isPayer(caps) ? caps.alike : [caps]', '[caps]']],
    noticedBy: 'src/policy/limits/payer-caps.spec.ts',
    test: 'are never exceeded, and refuse no amount that fits',
  },
];
