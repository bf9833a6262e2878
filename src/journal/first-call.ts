import { CallState, freesKey } from '../operations/lifecycle';
import { CALLS, STATE_COLUMNS, stateNowSql } from '../operations/lifecycle-sql';
import { PrismaService } from '../platform/database/prisma.service';
import { OutcomeDocument } from './documents';
import { VerdictTransaction } from './resolver-verdicts';

/** The records of a call that another one repeats. */
export interface FirstCall {
  id: string;
  state: CallState;
  /** Whether its key is free for another request. */
  isKeyFree: boolean;
  /** The upstream's transactions of the call, if the proxy settled it by itself. */
  found: VerdictTransaction[];
  outcome: OutcomeDocument | null;
  /** The body of its answer. */
  body: Buffer | null;
}

type FirstCallRow = Pick<FirstCall, 'state' | 'found' | 'outcome'> & { body: Uint8Array | null };

/**
 * Reads the call that another one repeats. Returns undefined if there is no such call.
 * @param inFlightSeconds how long a call may be without an outcome while its process lives.
 */
export async function readFirstCall(
  prisma: PrismaService,
  id: string,
  inFlightSeconds: number,
): Promise<FirstCall | undefined> {
  const processes = await prisma.$queryRaw<{ number: number }[]>`SELECT live_processes() AS number`;
  const live = processes.map(({ number }) => number);
  const [row] = await prisma.$queryRaw<FirstCallRow[]>`
    SELECT ${stateNowSql(inFlightSeconds * 1_000, live)} AS state, found, outcome, body
    FROM (
      SELECT ${STATE_COLUMNS}, o.record::json AS outcome, b.body, coalesce((
          SELECT v.evidence -> 'transactions' FROM verdict v WHERE v.intent_id = i.id AND v.verdict = 'confirmed'
            AND s.outcome = 'confirmed' AND s.client_id IS NULL ORDER BY v.id DESC LIMIT 1), '[]') AS found
      FROM ${CALLS} LEFT JOIN outcome_body b ON b.intent_id = i.id
      WHERE i.id = ${id}::uuid) AS call`;
  if (!row) return undefined;
  const isKeyFree = freesKey(row.state, row.outcome?.upstream_status ?? null);
  return { ...row, id, isKeyFree, body: row.body && Buffer.from(row.body) };
}
