/** The guards of the limits of people, besides those of their clients. See guards.mjs. */

const CALLER_ROW = 'src/access/callers/caller-row.ts';
const REQUESTERS = 'src/admin/approvals/requesters.ts';
const APPROVALS = 'test/approvals-persons.full.spec.ts';

export const PERSONS = [
  {
    name: 'person-item-held',
    guards: 'a held call with an item that its person may not pay any more',
    edits: [[CALLER_ROW, 'own ? `coalesce', 'own && false ? `coalesce']],
    noticedBy: APPROVALS,
    test: 'hold for an item when it is approved',
  },
  {
    name: 'person-revoked-held',
    guards: 'a held call of a person who was revoked',
    edits: [[REQUESTERS, "NOT IN ('key', 'claimed')", "NOT IN ('key', 'claimed', 'token')"]],
    noticedBy: APPROVALS,
    test: 'ends with a revocation of the requester',
  },
  {
    name: 'person-unknown',
    guards: 'a payment for a person whom the database does not have',
    edits: [['src/policy/caps.ts', "({ kind: 'unknown_payer' } as const)", 'undefined']],
    noticedBy: 'test/payers.full.spec.ts',
    test: 'is not sent, and the person is added',
  },
];
