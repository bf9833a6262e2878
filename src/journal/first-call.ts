import { CallState, freesKey } from '../operations/lifecycle';
import { CALLS, STATE_COLUMNS, stateNowSql } from '../operations/lifecycle-sql';
import { withPatience } from '../platform/database/patience';
import { PrismaService } from '../platform/database/prisma.service';
import { readOutcome } from './recorded-calls';
import { VerdictTransaction } from './records';

/** The records of a call that another one repeats. */
export interface FirstCall {
  id: string;
  state: CallState;
  /** Whether its key is free for another request. */
  isKeyFree: boolean;
  /** The upstream's transactions of the call, if the proxy settled it by itself. */
  found: VerdictTransaction[];
  outcome: {
    kind: string;
    /** Why there was no usable answer (FailureCode of src/gateway/upstream/answer.ts). */
    failure: string | null;
    status: number | null;
    contentType: string | null;
    retryAfter: number | null;
    body: Buffer | null;
  } | null;
}

interface FirstCallRow {
  state: CallState;
  found: VerdictTransaction[] | null;
  /** The record of its outcome. */
  record: string | null;
  body: Uint8Array | null;
}

/**
 * Reads the call that another one repeats. Returns undefined if there is no such call.
 * @param inFlightSeconds how long a call may be without an outcome while its process lives.
 */
export function readFirstCall(
  prisma: PrismaService,
  id: string,
  inFlightSeconds: number,
): Promise<FirstCall | undefined> {
  return withPatience(read(prisma, id, inFlightSeconds));
}

async function read(prisma: PrismaService, id: string, inFlightSeconds: number): Promise<FirstCall | undefined> {
  const processes = await prisma.$queryRaw<{ number: number }[]>`SELECT live_processes() AS number`;
  const live = processes.map(({ number }) => number);
  const [row] = await prisma.$queryRaw<FirstCallRow[]>`
    SELECT ${stateNowSql(inFlightSeconds * 1_000, live)} AS state, found, record, body
    FROM (
      SELECT ${STATE_COLUMNS}, o.record, b.body, (
          SELECT v.evidence -> 'transactions' FROM verdict v WHERE v.intent_id = i.id AND v.verdict = 'confirmed'
            AND s.outcome = 'confirmed' AND s.client_id IS NULL ORDER BY v.id DESC LIMIT 1) AS found
      FROM ${CALLS} LEFT JOIN outcome_body b ON b.intent_id = i.id
      WHERE i.id = ${id}::uuid) AS call`;
  if (!row) return undefined;
  const { state, found, record, body } = row;
  const outcome = record === null ? null : readOutcome(record);
  return {
    id,
    state,
    isKeyFree: freesKey(state, outcome?.upstreamStatus ?? null),
    found: found ?? [],
    outcome: outcome && { ...outcome, status: outcome.upstreamStatus, body: body && Buffer.from(body) },
  };
}
