import { clock } from '../platform/database/clock';
import { Prisma } from '../platform/database/generated/client';
import { EXECUTED, OPEN } from '../operations/lifecycle';
import { CALLS, STATE_COLUMNS, stateIn } from '../operations/lifecycle-sql';
import { uuidFloor } from '../platform/database/uuid';
import { AdmissionRequest } from '../policy/admission';
import { paymentKeys } from './content-keys';

/** Calls in these states have paid, may have paid, or may still pay. */
const MAY_BE_PAID = [...EXECUTED, ...OPEN];

/**
 * Returns the requests with an item whose recipient and amount another client has paid within the window, may have
 * paid, or may still pay.
 * @param windowSeconds 0 disables the guard.
 */
export async function paidByOthers(
  tx: Prisma.TransactionClient,
  requests: AdmissionRequest[],
  windowSeconds: number,
): Promise<Set<string>> {
  const paying = requests.filter(({ usd }) => usd !== null);
  if (windowSeconds === 0 || paying.length === 0) return new Set();
  const rows = JSON.stringify(
    paying.flatMap(({ id, clientId, items }) =>
      paymentKeys(items, ({ counts }) => counts).map((content) => ({
        id,
        client_id: clientId,
        content: content.toString('hex'),
      })),
    ),
  );
  const since = uuidFloor(new Date(clock.nowMs() - windowSeconds * 1_000));
  const found = await tx.$queryRaw<{ id: string }[]>`
    SELECT DISTINCT a.id::text AS id
    FROM json_to_recordset(${rows}::json) AS a(id uuid, client_id uuid, content text)
    JOIN recent_content r ON r.content = decode(a.content, 'hex') AND r.intent_id >= ${since}::uuid
    CROSS JOIN LATERAL (
      SELECT i.id, ${STATE_COLUMNS} FROM ${CALLS} WHERE i.id = r.intent_id AND i.client_id <> a.client_id OFFSET 0
    ) AS call
    WHERE ${stateIn(MAY_BE_PAID)}`;
  return new Set(found.map(({ id }) => id));
}
