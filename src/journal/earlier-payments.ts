import { PrismaService } from '../database/prisma.service';
import { uuidFloor } from '../database/uuid';
import { Item } from '../policy/item';

/**
 * How far back an item is looked for. Wages and prizes are paid weekly at most, and a list that is uploaded a second time
 * is mostly noticed within days; further back, payments that are meant to recur would be most of what is found.
 */
const DAYS = 7;

/** A payment of the same amount to the same recipient. */
export interface EarlierPayment {
  /** Of the item that would pay it again. */
  position: number;
  callId: string;
  paidAt: Date;
}

/** The latest call of the client, for each item that has one, that has paid the same, may have, or waits to do so. */
export async function readEarlierPayments(
  prisma: PrismaService,
  clientId: string,
  items: { position: number; item: Item }[],
): Promise<EarlierPayment[]> {
  const rows = JSON.stringify(items.map(({ position, item }) => ({ position, ...wantedOf(item) })));
  const since = uuidFloor(new Date(Date.now() - DAYS * 86_400_000));
  return prisma.$queryRaw<EarlierPayment[]>`
    SELECT DISTINCT ON (a.position) a.position, i.id::text AS "callId", coalesce(o.sent_at, i.received_at) AS "paidAt"
    FROM json_to_recordset(${rows}::json)
      AS a(position integer, phone text, email text, handle text, receiver text, usd numeric)
    JOIN LATERAL (
      SELECT intent_id, position FROM item_recipient WHERE phone = a.phone AND intent_id >= ${since}::uuid
      UNION ALL SELECT intent_id, position FROM item_recipient WHERE lower(email) = a.email AND intent_id >= ${since}::uuid
      UNION ALL SELECT intent_id, position FROM item_recipient WHERE lower(handle) = a.handle AND intent_id >= ${since}::uuid
      UNION ALL SELECT intent_id, position FROM intent_item WHERE receiver = a.receiver AND intent_id >= ${since}::uuid
    ) AS seen ON true
    JOIN intent_item t ON t.intent_id = seen.intent_id AND t.position = seen.position AND t.amount_usd = a.usd
    JOIN intent i ON i.id = seen.intent_id AND i.client_id = ${clientId}::uuid
    LEFT JOIN outcome o ON o.intent_id = i.id
    LEFT JOIN resolution s ON s.intent_id = i.id
    LEFT JOIN decision d ON d.intent_id = i.id
    WHERE (o.kind IS NULL OR o.kind IN ('succeeded', 'unknown')) AND s.verdict IS DISTINCT FROM 'absent'
      AND d.verdict IS DISTINCT FROM 'rejected'
      AND NOT (i.held_for IS NOT NULL AND d.intent_id IS NULL AND i.expires_at <= clock_timestamp())
      AND NOT EXISTS (SELECT FROM refusal r WHERE r.id = i.id) -- its commit was reported as failed, but was not
    ORDER BY a.position, i.id DESC`;
}

/** Whom the item pays, in the one field that counts, and how much. */
function wantedOf({ recipientField, email, phone, handle, receiver, amountUsd }: Item) {
  return {
    phone: recipientField === 'phoneNumber' ? phone : null,
    email: recipientField === 'email' ? (email?.toLowerCase() ?? null) : null,
    handle: recipientField === 'twitter' ? (handle?.toLowerCase() ?? null) : null,
    receiver: recipientField === 'receiver' ? receiver : null,
    usd: amountUsd?.toFixed() ?? null,
  };
}
