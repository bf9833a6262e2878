import { OperationName } from '../../operations/catalogue/catalogue';
import { pointerIn, valueFieldOf } from '../../operations/items/items';
import { DatabaseCode } from '../../platform/errors/outages';
import { Fault, Problem, ProblemOptions } from '../../platform/errors/problem';
import { ProblemCode } from '../../platform/errors/problems';
import { Obstacle, RefusingObstacle } from '../../policy/admission';
import { ForbiddenRecipients } from '../../policy/limits/beneficiaries';
import { CapOwner, OverCap } from '../../policy/limits/caps';

/** A reason why this instance does not send a request now. Other instances may, or this one later. */
export type InstanceObstacle =
  | { kind: 'fenced' }
  | { kind: 'no_space'; code: DatabaseCode }
  | { kind: 'no_room'; retryAfter: number }
  | Extract<Obstacle, { kind: 'stopped' | 'circuit_open' }>;

/**
 * A rule that a held call breaks now, regardless of its request. `not_own`: it names a transaction of others.
 */
export type BrokenRule =
  | { kind: 'credential_ended' | 'content_lost' | 'not_own' }
  | { kind: 'scope_missing'; scopes: string[] }
  | { kind: 'switched_off'; operation: OperationName }
  | { kind: 'over_own_limit'; problem: Problem }
  | Extract<Obstacle, { kind: 'recipient_not_allowed' }>;

/** A reason to refuse a request, or not to approve a held call. */
export type AnyObstacle =
  | InstanceObstacle
  | BrokenRule
  | RefusingObstacle
  | { kind: 'maybe_paid'; transaction: string }
  | { kind: 'listing_unread'; failure: string }
  | { kind: 'expired' | 'decided' | 'screening_denied' | 'screening_unavailable' | 'over_cap_of_app' };

/** Readers of the texts. `settler` is an approver who settles a call by hand. */
export type Reader = 'app' | 'approver' | 'settler';

type Text<Of> = string | ((obstacle: Of, names: Record<CapOwner, string>) => string);

/** One kind of obstacle: its error code, and its texts. */
export interface Row<Of> {
  code: ProblemCode | ((obstacle: Of) => ProblemCode);
  /** The code for an approver, if different. */
  heldCode?: ProblemCode;
  /** The event, in a sentence. Defaults to the first sentence of the code's text. */
  happened?: Text<Of>;
  /** The broken rule as a clause, in place of `happened` for an approver. */
  rule?: Text<Of>;
  /** The next step. Defaults to that of the code's text. */
  next: Partial<Record<Reader, Text<Of>>>;
  /** Whether the call is no longer pending. */
  isOver?: true;
  more?: (obstacle: Of) => ProblemOptions;
  faults?: (obstacle: Of, operation: OperationName) => Fault[];
}

const BLOCKED = 'is blocked for your client';
const UNREGISTERED = 'is not registered, and your client may pay only registered recipients';
const SEE_READYZ = 'GET /readyz states the reason. Decide later, or on another instance.';
const LATER = 'Approve it after Retry-After.';
const PERMIT = 'Change the rights of the client or of its person, or reject the call.';

/** Rules of per-call limits that forbid a held call, by error code. */
const OWN_LIMITS: Partial<Record<ProblemCode, string>> = {
  too_many_items: 'it has more items than the client may send in one call',
  country_not_allowed: 'it pays to a country that the client may not pay to',
  foreign_number: 'a phone number belongs to another country than its item states',
  amount_required: 'an item states no amount, and the client has a limit in US dollars',
  cap_exceeded: 'it exceeds a limit of the client or of its person for one item or one call',
};

/** Every kind of obstacle. Following a text never pays twice. */
export const ROWS: { [K in AnyObstacle['kind']]: Row<Extract<AnyObstacle, { kind: K }>> } = {
  fenced: { code: 'instance_fenced', next: { approver: SEE_READYZ, settler: SEE_READYZ } },
  no_space: { code: ({ code }) => code, next: { approver: LATER } },
  no_room: {
    code: 'overloaded',
    next: { approver: LATER },
    more: ({ retryAfter }) => ({ retryAfter }),
  },
  stopped: {
    code: 'stopped',
    happened: ({ stop: { clientId, operation } }, { client }) =>
      'The operator has stopped ' +
      `${clientId === null ? (operation ?? 'all payouts and writes') : client.toLowerCase()}.`,
    next: {
      app: ({ stop }) => `Reason: ${stop.reason}`,
      approver: ({ stop }) => `Approve it when the stop is lifted. Reason: ${stop.reason}`,
    },
  },
  circuit_open: {
    code: 'upstream_unreachable',
    next: { approver: LATER },
    more: ({ retryAfter }) => ({ retryAfter }),
  },
  duplicate: {
    code: 'suspected_duplicate',
    happened: ({ first: { callId, state } }) =>
      `Call ${callId} has the same content, and its state is ${state}.`,
    next: {
      app: ({ first: { callId } }) =>
        `GET /v1/calls/${callId} shows its state. To pay in addition to that call, send the request ` +
        `again with the header Allow-Duplicate-Of: ${callId}.`,
    },
    more: ({ first: { callId: firstCallId, state: firstCallState, paidSecondsAgo } }) => {
      // A call that is still open may turn out to be the requested one.
      const action = paidSecondsAgo === null ? 'wait' : 'ask';
      return { firstCallId, firstCallState, action };
    },
  },
  recipient_not_allowed: {
    ...brokenRule('recipient_not_allowed', 'the client may not pay one of its recipients'),
    next: { approver: "Change the client's register, or reject the call." },
    faults: forbiddenFaults,
  },
  over_cap: {
    code: 'cap_exceeded',
    happened: capReached,
    next: {
      app: ({ of }) =>
        of === 'ephemeral_key'
          ? 'Ask your server for another key.'
          : 'GET /v1/limits shows when the cap resets.',
      approver: ({ of, period }) =>
        of === 'ephemeral_key'
          ? 'Reject the call.'
          : `Raise the cap, or approve the call on the next ${period === 'daily' ? 'day' : 'month'} (UTC).`,
    },
  },
  over_cap_of_app: {
    code: 'cap_exceeded',
    happened: 'This payment would exceed a cap of the whole app.',
    next: { app: 'Try again on another day, or ask the provider of the app.' },
  },
  over_recipient_cap: {
    code: 'cap_exceeded',
    happened: ({ capUsd }, { client }) =>
      `${client} may pay ${capUsd.toFixed()} US dollars to one recipient in a day (UTC).`,
    next: {
      app: '"errors" lists the items that exceed it.',
      approver: 'Raise the limit, or approve the call on the next day.',
    },
    faults: ({ capUsd, positions }, operation) => recipientFaults(capUsd.toFixed(), positions, operation),
  },
  unknown_payer: {
    code: 'database_unavailable',
    heldCode: 'no_longer_allowed',
    happened:
      "The proxy's database lacks the person or the ephemeral key of this request, " +
      'for example after a restore, so their caps are unknown.',
    next: {
      app: 'Send the request again, with the same Idempotency-Key if it had one.',
      approver: 'Reject it. To pay, the client must send it again.',
    },
  },
  listing_unread: {
    code: 'upstream_unreachable',
    happened: ({ failure }) => `The payout service's list of transactions could not be read (${failure}).`,
    next: { app: 'It is safe to send the request again.', approver: LATER },
  },
  maybe_paid: {
    code: 'suspected_duplicate',
    happened: ({ transaction }) =>
      'The upstream has paid the same amount to the same recipient in a recovery gap: ' +
      `transaction ${transaction}. It may be this call.`,
    next: {
      approver:
        'Reject it if it was paid. ' +
        'Otherwise decide about the finding of that transaction first, then approve it.',
    },
  },
  expired: {
    code: 'approval_expired',
    happened: 'This call has expired without a decision.',
    next: { approver: 'To pay, the requester must send it again.' },
    isOver: true,
  },
  decided: { code: 'already_decided', next: {} },
  credential_ended: {
    code: 'key_revoked',
    rule: 'the credentials that made this request were revoked or have expired',
    next: {},
  },
  content_lost: {
    code: 'content_lost',
    rule: 'it was restored from a copy that does not have its content',
    next: {},
  },
  scope_missing: brokenRule(
    'scope_missing',
    ({ scopes }) => `the client no longer has the scope ${scopes.join(' and ')}`,
  ),
  switched_off: brokenRule(
    'operation_not_allowed',
    ({ operation }) => `${operation} is switched off for the client`,
  ),
  not_own: brokenRule(
    'object_not_found',
    'no call of the client created its transaction, and the client does not have the scope account',
  ),
  over_own_limit: {
    ...brokenRule(
      ({ problem }) => problem.code,
      ({ problem }) => OWN_LIMITS[problem.code] ?? 'it exceeds a limit of the client',
    ),
    faults: ({ problem }) => problem.faults,
  },
  screening_denied: brokenRule('screening_denied', 'the screening of recipients does not allow it'),
  screening_unavailable: { code: 'screening_unavailable', next: { approver: LATER } },
};

function brokenRule<Of>(code: Row<Of>['code'], rule: Text<Of>): Row<Of> {
  return { code, heldCode: 'no_longer_allowed', rule, next: { approver: PERMIT } };
}

function capReached(
  { of, period, capUsd, leftUsd, feeUsd }: OverCap,
  names: Record<CapOwner, string>,
): string {
  const fees = feeUsd ? ` The upstream's expected fees of ${feeUsd.toFixed()} US dollars count, too.` : '';
  return (
    `${names[of]}'s ${period} cap is ${capUsd.toFixed()} US dollars, ` +
    `with ${leftUsd.toFixed()} US dollars left.${fees}`
  );
}

/** Returns the items with forbidden recipients. */
function forbiddenFaults({ blocked, unregistered }: ForbiddenRecipients, operation: OperationName): Fault[] {
  const pointer = pointerIn(operation);
  return [...blocked, ...unregistered]
    .sort((a, b) => a.position - b.position)
    .map((recipient) => ({
      pointer: pointer(recipient.position, recipient.field ?? valueFieldOf(operation)),
      detail: blocked.includes(recipient) ? BLOCKED : UNREGISTERED,
    }));
}

/** Returns the items whose recipients would get too much, without sums: others may have paid them. */
function recipientFaults(capUsd: string, positions: number[], operation: OperationName): Fault[] {
  const pointer = pointerIn(operation);
  const detail =
    `would bring its recipient over ${capUsd} US dollars today (UTC), ` +
    'with earlier payments and requests of your client';
  return positions.map((position) => ({ pointer: pointer(position, valueFieldOf(operation)), detail }));
}
