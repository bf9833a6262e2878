/** Guards of dual control. */

const EXPANSION = 'src/access/dual-control/expansion.ts';
const DUAL_CONTROL_SERVICE = 'src/access/dual-control/dual-control.service.ts';
const CLAIMS = 'src/access/dual-control/claims.service.ts';
const LIFTING = 'src/admin/stops/stops.service.ts';
const SAME_PERSON = 'src/access/people/same-person.ts';
const SCHEMA = 'prisma/migrations/20261124000000_init/migration.sql';
const ONE_HUMAN = 'test/people/one-human.spec.ts';
const PERSONAL_KEYS = 'test/access/keys/personal-keys.spec.ts';
const SETTLEMENTS = 'src/history/own-calls/settlements-by-hand.service.ts';
const SETTLED_BY_TWO = 'test/approvals/dual-control-settlements.spec.ts';
const ATTRIBUTIONS = 'src/reconciliation/attributions/attributions.service.ts';
const ATTRIBUTION_FAULTS = 'src/reconciliation/attributions/attribution-faults.ts';
const ATTRIBUTED = 'test/reconciliation/book/attributions.spec.ts';
const STOPS = 'test/limits/stops-second-person.spec.ts';

export const DUAL_CONTROL = [
  {
    name: 'granted-scope',
    guards: 'permission to redeem and collect granted by one person',
    edits: [
      [EXPANSION, '!before.scopes.includes(scope)', "!before.scopes.includes(scope) && scope !== 'write'"],
    ],
    noticedBy: 'test/limits/expanded-requests.full.spec.ts',
    test: 'waits for the scope write alone, which permits new requests',
  },
  {
    name: 'lowered-limit',
    guards: 'a limit that allows more when it is lowered',
    edits: [[EXPANSION, 'new Decimal(after).lessThan(before)', 'new Decimal(after).greaterThan(before)']],
    noticedBy: 'src/access/clients/limits/new-limit.full.spec.ts',
    test: 'requires a second person to lower it',
  },
  {
    name: 'foreign-key-hidden',
    guards: "a requester who sees another person's key",
    edits: [
      [DUAL_CONTROL_SERVICE, 'person === undefined ? key : undefined', 'person === undefined ? key : key'],
    ],
    noticedBy: PERSONAL_KEYS,
    test: 'shows its secret only to the person who claims it',
  },
  {
    name: 'decider-keys',
    guards: 'a decision by a key that the requester requested or claimed',
    edits: [[SAME_PERSON, ' AND k.claimed_at IS NOT NULL)', ' AND FALSE)']],
    noticedBy: PERSONAL_KEYS,
    test: 'never decides about a change of its',
  },
  {
    name: 'requester-keys',
    guards: 'a decision about a request made with a key that the decider claimed',
    edits: [
      [
        SCHEMA,
        'unnest(k.claimed_by) AS name WHERE k.id = ANY (keys))',
        'unnest(k.claimed_by) AS name WHERE FALSE)',
      ],
    ],
    noticedBy: PERSONAL_KEYS,
    test: 'cannot request a change that its holder approves',
  },
  {
    name: 'claim-of-the-approver',
    guards: "an approver who claims another person's key with its code",
    edits: [[CLAIMS, 'new Set([key.approvedBy,', 'new Set([key.person,']],
    noticedBy: PERSONAL_KEYS,
    test: 'never decides about a change of its',
  },
  {
    name: 'expired-claim',
    guards: 'a claim code found after its expiry',
    edits: [[CLAIMS, ' AND k.claim_until > now()', '']],
    noticedBy: PERSONAL_KEYS,
    test: 'cannot be claimed after expiry or revocation, or with a wrong code',
  },
  {
    name: 'lift-by-one-person',
    guards: "another person's stop lifted by one person",
    edits: [
      [
        'src/journal/stops/stops.ts',
        'stop !== undefined && (await haveSameOwner(',
        'stop !== undefined || (await haveSameOwner(',
      ],
    ],
    noticedBy: STOPS,
    test: 'requires two persons for a stop of another person',
  },
  {
    name: 'lift-of-an-old-stop',
    guards: 'an old stop lifted by one person',
    edits: [
      ['src/journal/stops/stops.ts', 'const TAKEN_BACK_MINUTES = 10;', 'const TAKEN_BACK_MINUTES = 10_000;'],
    ],
    noticedBy: STOPS,
    test: 'is permitted to its author alone for ten minutes',
  },
  {
    name: 'lift-unreconciled',
    guards: 'a stop lifted by one person while payments may be missing',
    edits: [[LIFTING, '(!unreconciled && ', '(']],
    noticedBy: STOPS,
    test: 'requires two persons for an own stop if the recovery gap was not read',
  },
  {
    name: 'claimed-name',
    guards: 'an approval under a name that the requester has claimed',
    edits: [
      [
        SCHEMA,
        'ON staff.is_staff AND staff.sha256 = own.sha256',
        "ON staff.is_staff AND own.kind <> 'name' AND staff.sha256 = own.sha256",
      ],
    ],
    noticedBy: ONE_HUMAN,
    test: 'cannot decide on their own request, made by a claimed name',
  },
  {
    name: 'renamed-subject',
    guards: 'an approval by a requester with another name at the provider',
    edits: [[SCHEMA, 'IF of_name <> of_subject THEN', 'IF FALSE THEN']],
    noticedBy: 'test/people/one-human-model.spec.ts',
    test: 'agree with a model, in any order of discovery',
  },
  {
    name: 'merged-people',
    guards: 'a decision under the other name of one human',
    edits: [[SCHEMA, 'array_agg(DISTINCT coalesce(p.same_as, p.id))', 'array_agg(DISTINCT p.id)']],
    noticedBy: ONE_HUMAN,
    test: 'cannot decide on a change that they requested as hopper',
  },
  {
    name: 'settlement-by-one-person',
    guards: 'an amount that one person gives back by a settlement',
    edits: [[SETTLEMENTS, 'this.dualControl.isOn ? givenBackBy(decided, call) : undefined', 'undefined']],
    noticedBy: SETTLED_BY_TWO,
    test: 'waits for a second person if it gives an amount back',
  },
  {
    name: 'settlement-approved-by-its-payer',
    guards: 'a settlement approved by the requester of the call',
    edits: [
      [
        SAME_PERSON,
        'AND (${REQUESTER_OF_INTENT}::uuid[] &&',
        'AND (FALSE AND ${REQUESTER_OF_INTENT}::uuid[] &&',
      ],
    ],
    noticedBy: SETTLED_BY_TWO,
    test: 'is never approved by its requester or by the requester of the call',
  },
  {
    name: 'outdated-settlement',
    guards: 'a settlement approved after another one',
    edits: [[SETTLEMENTS, 'if (call.version !== version) return undefined;', '']],
    noticedBy: SETTLED_BY_TWO,
    test: 'is superseded by any settlement of the call since the request',
  },
  {
    name: 'attribution-by-one-person',
    guards: 'a transaction that one person attributes',
    edits: [
      [ATTRIBUTIONS, 'if (!this.dualControl.isOn) await this.apply(', 'await this.apply('],
      [ATTRIBUTIONS, 'if (!this.dualControl.isOn) return undefined;', 'return undefined;'],
    ],
    noticedBy: ATTRIBUTED,
    test: 'settles a doubt, and the state follows from the transaction',
  },
  {
    name: 'attribution-to-another-recipient',
    guards: 'a payout that a person settles by the transaction of another recipient',
    edits: [[ATTRIBUTION_FAULTS, '=> hasAnotherRecipient,', '=> hasAnotherRecipient && false,']],
    noticedBy: ATTRIBUTED,
    test: 'is refused with every contradiction',
  },
  {
    name: 'attribution-of-a-named-transaction',
    guards: 'a payout that a person robs of the transaction that its records name',
    edits: [
      [
        ATTRIBUTION_FAULTS,
        "!mayLose(otherOwner(facts, request)?.ground ?? 'person')",
        "!mayLose(otherOwner(facts, request)?.ground ?? 'person') && false",
      ],
    ],
    noticedBy: ATTRIBUTED,
    test: 'is refused with every contradiction',
  },
  {
    name: 'robbed-payout',
    guards: 'a payout that stays paid by the transaction of another one',
    edits: [['src/reconciliation/attributions/attribution-settlement.ts', 'if (!owner) return;', 'return;']],
    noticedBy: ATTRIBUTED,
    test: 'takes a transaction from a payout that only its likeness gave it, which is in doubt then',
  },
  {
    name: 'scopes-of-one-human',
    guards: 'a person who pays and approves under two names',
    edits: [['src/access/dual-control/separation-of-duties.ts', 'WHERE ${HUMAN} = ANY', 'WHERE p.id = ANY']],
    noticedBy: ONE_HUMAN,
    test: 'cannot combine incompatible scopes under two names, or by a sign-in with a new name',
  },
  {
    name: 'merge-by-one-person',
    guards: 'two people merged by one person',
    edits: [
      [
        'src/access/dual-control/dual-control.service.ts',
        'if (!this.isOn) return mergePeople(',
        'if (named) return mergePeople(',
      ],
    ],
    noticedBy: 'test/people/person-merges.spec.ts',
    test: 'needs an approver other than the requester and the merged people',
  },
  {
    name: 'merge-of-oneself',
    guards: 'a merge approved by one of both people',
    edits: [
      [
        SAME_PERSON,
        "'{merge,kept,id}')::uuid, (change::json #>> '{merge,merged,id}'",
        "'{merge,none,id}')::uuid, (change::json #>> '{merge,none,id}'",
      ],
    ],
    noticedBy: 'test/people/person-merges.spec.ts',
    test: 'needs an approver other than the requester and the merged people',
  },
  {
    name: 'people-approve-money',
    guards: 'an approval by a shared key',
    edits: [['src/access/auth/four-eyes.ts', '(requester.isPerson || mustBePerson)', 'requester.isPerson']],
    noticedBy: 'test/approvals/approvals-persons.full.spec.ts',
    test: 'requires a personal key to',
  },
];
