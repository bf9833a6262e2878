import { Prisma } from '../database/generated/client';
import { uuidFloor } from '../database/uuid';
import { Item } from '../policy/item';
import { recordedItems } from './recorded-items';

/** An item whose like is looked for. */
export interface Wanted {
  /** Of the call that it belongs to. */
  callId: string;
  clientId: string;
  position: number;
  item: Item;
}

/** A payment of the same amount to the same recipient. */
export interface SamePayment {
  /** Of the item that would pay it again, and its call. */
  position: number;
  wantedBy: string;
  callId: string;
  paidAt: Date;
}

/**
 * The latest call, for each item that has one, that has paid the same, may have, or waits to do so.
 * @param whose calls of the client that wants it, or of all others.
 */
export async function readSamePayments(
  tx: Prisma.TransactionClient,
  wanted: Wanted[],
  whose: 'own' | 'of others',
  sinceMs: number,
): Promise<SamePayment[]> {
  const rows = JSON.stringify(wanted.flatMap(toRow));
  const since = uuidFloor(new Date(Date.now() - sinceMs));
  return tx.$queryRaw<SamePayment[]>`
    SELECT DISTINCT ON (a.wanted_by, a.position) a.position, a.wanted_by::text AS "wantedBy", i.id::text AS "callId",
      coalesce(o.sent_at, i.received_at) AS "paidAt"
    FROM json_to_recordset(${rows}::json) AS a(
      wanted_by uuid, client_id uuid, position integer, phone text, email text, handle text, receiver text, usd numeric)
    JOIN LATERAL (
      SELECT intent_id, position FROM item_recipient WHERE phone = a.phone AND intent_id >= ${since}::uuid
      UNION ALL SELECT intent_id, position FROM item_recipient WHERE lower(email) = a.email AND intent_id >= ${since}::uuid
      UNION ALL SELECT intent_id, position FROM item_recipient WHERE lower(handle) = a.handle AND intent_id >= ${since}::uuid
      UNION ALL SELECT intent_id, position FROM intent_item WHERE receiver = a.receiver AND intent_id >= ${since}::uuid
    ) AS seen ON true
    JOIN intent_item t ON t.intent_id = seen.intent_id AND t.position = seen.position AND t.amount_usd = a.usd
    JOIN intent i ON i.id = seen.intent_id AND (i.client_id = a.client_id) = ${whose === 'own'}
    LEFT JOIN outcome o ON o.intent_id = i.id
    LEFT JOIN current_resolution s ON s.intent_id = i.id
    LEFT JOIN decision d ON d.intent_id = i.id
    WHERE (o.kind IS NULL OR o.kind IN ('succeeded', 'unknown'))
      AND (s.verdict IS DISTINCT FROM 'absent' OR o.kind = 'succeeded')
      AND d.verdict IS DISTINCT FROM 'rejected'
      AND NOT (i.held_for IS NOT NULL AND d.intent_id IS NULL AND i.expires_at <= clock_timestamp())
      AND NOT EXISTS (SELECT FROM refusal r WHERE r.id = i.id) -- its commit was reported as failed, but was not
    ORDER BY a.wanted_by, a.position, i.id DESC`;
}

/** Whom the item pays, in the one field that counts, and how much. */
function toRow({ callId, clientId, position, item }: Wanted) {
  return recordedItems([item]).map(({ recipientField, email, phone, handle, receiver, amountUsd }) => {
    const isReceiver = recipientField === 'receiver';
    const isContact = isReceiver && (email ?? phone ?? handle) !== null; // then what else is kept of it is its mask
    return {
      ...{ wanted_by: callId, client_id: clientId, position },
      phone: isReceiver || recipientField === 'phoneNumber' ? phone : null,
      email: isReceiver || recipientField === 'email' ? (email?.toLowerCase() ?? null) : null,
      handle: isReceiver || recipientField === 'twitter' ? (handle?.toLowerCase() ?? null) : null,
      receiver: isReceiver && !isContact ? receiver : null,
      usd: amountUsd?.toFixed() ?? null,
    };
  });
}
