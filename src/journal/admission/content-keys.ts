import { hash } from 'node:crypto';
import { Item, paidName, RecipientName, recipientNames } from '../../operations/items/item';
import { EXECUTED, OPEN } from '../../operations/lifecycle/lifecycle';
import { CALLS, IS_RETURNED, STATE_COLUMNS, stateIn } from '../../operations/lifecycle/lifecycle-sql';
import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { uuidFloor } from '../../platform/database/uuid';
import { AdmissionRequest } from '../../policy/admission';
import { Payment } from '../../policy/limits/recipient-days';

/** The parts of a request that identify its content. */
type OwnContent = Pick<AdmissionRequest, 'clientId' | 'endUserId' | 'operation' | 'content'>;

/** Returns the key of the same content of a client or an end user (SHA-256). */
export function contentKey({ clientId, endUserId, operation, content }: OwnContent): Buffer {
  const scope = endUserId === null ? clientId : `${clientId} ${endUserId}`;
  return sha256(`${scope}\n${operation}\n${content}`);
}

/** Returns the keys of payments across clients: one for each name of a recipient with its amount. */
export function paymentKeys(items: Item[], which: (name: RecipientName) => boolean = () => true): Buffer[] {
  return items.flatMap((item) => {
    const usd = item.amountUsd?.toFixed();
    if (usd === undefined) return [];
    return recipientNames(item)
      .filter(which)
      .map(({ key }) => sha256(JSON.stringify(['payment', key, usd])));
  });
}

/**
 * Returns the amounts of a client's recipients, by the name that the upstream pays by. Omits items without a
 * recipient or an amount.
 */
export function paymentsTo(clientId: string, items: Item[]): Payment[] {
  return items.flatMap((item, position) => {
    const [usd, paid] = [item.amountUsd, paidName(item)];
    if (usd === null || paid === undefined) return [];
    const recipient = sha256(JSON.stringify(['recipient', clientId, paid.key])).toString('hex');
    return [{ position, recipient, usd }];
  });
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** States of calls that have paid, may have paid or may still pay. */
const MAY_BE_PAID = [...EXECUTED, ...OPEN];

/**
 * Returns the requests with an item whose recipient and amount match a call of another client within the
 * window. The other call was paid, may have been paid or may still be paid.
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
      SELECT i.id, ${STATE_COLUMNS} FROM ${CALLS}
      WHERE i.id = r.intent_id AND i.client_id <> a.client_id AND NOT ${IS_RETURNED} OFFSET 0
    ) AS call
    WHERE ${stateIn(MAY_BE_PAID)}`;
  return new Set(found.map(({ id }) => id));
}
