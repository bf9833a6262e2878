import { Prisma } from '../platform/database/generated/client';
import { SameContent, SameContentState } from '../policy/same-content';
import { NEVER_CARRIED_OUT } from './never-carried-out';

/** What became of a call, as far as another one with its key or content depends on it. */
export interface CallState {
  /**
   * `never_carried_out`: nothing was sent, or it is settled that nothing came of it; this also frees its key.
   * `not_paid`: the upstream or an approver said no, or nobody approved it in time.
   */
  state: SameContentState | 'never_carried_out' | 'not_paid';
  /** How long ago it is known that it was paid, in seconds by the database's clock; null: it was not, or is still open. */
  paidSecondsAgo: number | null;
}

interface Row extends CallState {
  id: string;
}

/**
 * Reads what became of calls. A call that is not on record is not in the answer.
 * @param inFlightSeconds for how long a call may be without an outcome while its process lives.
 */
export async function readCallStates(
  tx: Prisma.TransactionClient,
  calls: string[],
  inFlightSeconds: number,
): Promise<Map<string, CallState>> {
  if (calls.length === 0) return new Map();
  const ids = [...new Set(calls)];
  const rows = await tx.$queryRaw<Row[]>`
    SELECT id::text, state, CASE state
        WHEN 'succeeded' THEN extract(epoch FROM clock_timestamp() - answered)::float
        WHEN 'confirmed' THEN extract(epoch FROM clock_timestamp() - settled)::float
      END AS "paidSecondsAgo"
    FROM (
      SELECT i.id, o.recorded_at AS answered, s.resolved_at AS settled, CASE
        WHEN ${Prisma.raw(NEVER_CARRIED_OUT)} THEN 'never_carried_out'
        WHEN o.kind = 'rejected' OR d.verdict = 'rejected' THEN 'not_paid'
        WHEN d.intent_id IS NULL AND i.expires_at <= clock_timestamp() THEN 'not_paid'
        WHEN o.kind = 'succeeded' THEN 'succeeded'
        WHEN s.verdict = 'confirmed' THEN 'confirmed'
        WHEN o.kind = 'unknown' THEN 'unknown'
        WHEN i.held_for IS NOT NULL AND d.intent_id IS NULL THEN 'pending_approval'
        WHEN coalesce(d.process, i.process) IN (SELECT live_processes())
          AND coalesce(d.decided_at, i.recorded_at) > clock_timestamp() - make_interval(secs => ${inFlightSeconds}::float)
          THEN 'in_progress'
        ELSE 'unknown'
      END AS state
      FROM intent i LEFT JOIN outcome o ON o.intent_id = i.id LEFT JOIN current_resolution s ON s.intent_id = i.id
        LEFT JOIN decision d ON d.intent_id = i.id
      WHERE i.id = ANY (${ids}::uuid[])) AS known`;
  return new Map(rows.map(({ id, ...state }) => [id, state]));
}

/** The call as one that may be in the way of others with its content; undefined if it was not paid and will not be. */
export function asSameContent(callId: string, known: CallState | undefined): SameContent | undefined {
  if (!known || known.state === 'never_carried_out' || known.state === 'not_paid') return undefined;
  return { callId, state: known.state, paidSecondsAgo: known.paidSecondsAgo };
}
