import { CallState, freesKey, STATES } from '../../operations/lifecycle/lifecycle';
import { callsWith, IS_RETURNED, STATE_COLUMNS, stateNowSql } from '../../operations/lifecycle/lifecycle-sql';
import { Prisma } from '../../platform/database/generated/client';
import { SameContent, SameContentState } from '../../policy/same-content';

/** The state of a call, as far as it affects another call with its key or content. */
export interface KnownCall {
  state: CallState;
  /** HTTP status of the upstream's answer. Null without an answer. */
  upstreamStatus: number | null;
  /** Whether one of its payouts is in doubt after the answer. */
  hasDoubt: boolean;
  /** Whether all of its payouts failed, came back or were not executed. */
  isReturned: boolean;
  /** Whether its client hung up before the answer was handed over. */
  undelivered: boolean;
  /** Seconds since its outcome was recorded, by the database's clock. */
  answeredSecondsAgo: number | null;
  /** Seconds since it was settled, by the database's clock. */
  settledSecondsAgo: number | null;
}

/** Quotes within the texts of a record are escaped, so only the member itself matches. */
const SAYS_UNDELIVERED = Prisma.sql`LIKE '%"undelivered":true%'`;

const UNDELIVERED = Prisma.sql`(coalesce(o.record ${SAYS_UNDELIVERED}, FALSE)
  OR EXISTS (SELECT FROM settlement t WHERE t.intent_id = i.id AND t.record ${SAYS_UNDELIVERED}))`;

/**
 * Reads the states of calls. Omits calls without a record.
 * @param inFlightSeconds longest time without an outcome while the call's process lives.
 */
export async function readCallStates(
  tx: Prisma.TransactionClient,
  calls: string[],
  inFlightSeconds: number,
): Promise<Map<string, KnownCall>> {
  if (calls.length === 0) return new Map();
  const ids = [...new Set(calls)];
  const rows = await tx.$queryRaw<(KnownCall & { id: string })[]>`
    SELECT id, ${stateNowSql(inFlightSeconds * 1_000)} AS state, upstream_status AS "upstreamStatus",
      has_doubt AS "hasDoubt", is_returned AS "isReturned", undelivered,
      extract(epoch FROM clock_timestamp() - answered_at)::float AS "answeredSecondsAgo",
      extract(epoch FROM clock_timestamp() - settled_at)::float AS "settledSecondsAgo"
    FROM (
      SELECT i.id::text, ${STATE_COLUMNS}, o.upstream_status, ${UNDELIVERED} AS undelivered,
        o.recorded_at AS answered_at, s.recorded_at AS settled_at,
        CASE WHEN o.record LIKE '%"in_doubt"%' THEN EXISTS (
          SELECT FROM last_entries(i.id, o.record::json -> 'entries', i.item_count, 'paid')
          WHERE entry = 'in_doubt') ELSE FALSE END AS has_doubt,
        ${IS_RETURNED} AS is_returned
      FROM ${callsWith(ids)}) AS known`;
  return new Map(rows.map(({ id, ...call }) => [id, call]));
}

/** Returns whether another call may claim the call's key. */
export function isKeyFree(known: KnownCall | undefined): boolean {
  return known !== undefined && freesKey(known.state, known.upstreamStatus);
}

/** Returns whether a call was executed and one of its payouts neither failed nor came back. */
export function isPaid({ state, isReturned }: KnownCall): boolean {
  return STATES[state].executed === 'yes' && !isReturned;
}

/** Returns whether a call is paid, or may be. */
export function mayBePaid({ state, isReturned }: KnownCall): boolean {
  return STATES[state].executed !== 'no' && !isReturned;
}

/** Returns the call as a competitor of calls with the same content. Undefined if it is never paid. */
export function asSameContent(callId: string, known: KnownCall | undefined): SameContent | undefined {
  if (!known || !mayBePaid(known)) return undefined;
  const { state, hasDoubt, undelivered, answeredSecondsAgo, settledSecondsAgo } = known;
  if (hasDoubt) return { callId, state: 'unknown', paidSecondsAgo: null, undelivered };
  const paidSecondsAgo = isPaid(known)
    ? state === 'confirmed'
      ? settledSecondsAgo
      : answeredSecondsAgo
    : null;
  return { callId, state: state as SameContentState, paidSecondsAgo, undelivered };
}
