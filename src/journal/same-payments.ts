import { NIL } from 'uuid';
import { Prisma } from '../platform/database/generated/client';
import { PrismaService } from '../platform/database/prisma.service';
import { uuidFloor } from '../platform/database/uuid';
import { Item } from '../operations/item';
import { EXECUTED, OPEN } from '../operations/lifecycle';
import { CALLS, STATE_COLUMNS, stateIn } from '../operations/lifecycle-sql';
import { recordedItems } from './recorded-items';

/** An item to find similar payments of. */
export interface Wanted {
  /** The call that it belongs to. */
  callId: string;
  clientId: string;
  position: number;
  item: Item;
}

/** A payment of the same amount to the same recipient. */
export interface SamePayment {
  /** The position of the item that would pay it again, and its call. */
  position: number;
  wantedBy: string;
  callId: string;
  paidAt: Date;
}

/** Calls in these states have paid, may have paid, or may still pay. */
const MAY_BE_PAID = [...EXECUTED, ...OPEN];

/**
 * How many days back to search. Wages and prizes are paid weekly at most, and a list that is uploaded twice is mostly
 * noticed within days. Further back, most matches would be payments that are meant to recur.
 */
const EARLIER_DAYS = 7;

/** Returns the items that the client has already paid within the last days. */
export function readEarlierPayments(
  prisma: PrismaService,
  clientId: string,
  items: { position: number; item: Item }[],
): Promise<SamePayment[]> {
  const wanted = items.map(({ position, item }) => ({ position, item, callId: NIL, clientId }));
  return readSamePayments(prisma, wanted, 'own', EARLIER_DAYS * 86_400_000);
}

/**
 * Returns, for each item, the latest call that has paid the same, may have paid it, or may still pay it.
 * @param whose calls of the same client, or of all others.
 */
export async function readSamePayments(
  tx: Prisma.TransactionClient,
  wanted: Wanted[],
  whose: 'own' | 'of others',
  sinceMs: number,
): Promise<SamePayment[]> {
  const rows = JSON.stringify(wanted.flatMap(toRow));
  const since = uuidFloor(new Date(Date.now() - sinceMs));
  // Goes step by step, by the primary key of each table (OFFSET 0 separates the steps). On its own, the planner reads
  // all items of a call for each item. Each call is checked once, however many of its items match.
  return tx.$queryRaw<SamePayment[]>`
    WITH wanted AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${rows}::json) AS a(
        wanted_by uuid, client_id uuid, position integer, phone text, email text, handle text, receiver text, usd numeric)
    ), same AS MATERIALIZED (
      SELECT a.wanted_by, a.client_id, a.position, seen.intent_id
      FROM wanted a CROSS JOIN LATERAL (
        SELECT intent_id, position FROM item_recipient WHERE phone = a.phone AND intent_id >= ${since}::uuid
        UNION ALL SELECT intent_id, position FROM item_recipient WHERE lower(email) = a.email AND intent_id >= ${since}::uuid
        UNION ALL SELECT intent_id, position FROM item_recipient WHERE lower(handle) = a.handle AND intent_id >= ${since}::uuid
        UNION ALL SELECT intent_id, position FROM intent_item WHERE receiver = a.receiver AND intent_id >= ${since}::uuid
        OFFSET 0
      ) AS seen CROSS JOIN LATERAL (
        SELECT FROM intent_item t
        WHERE t.intent_id = seen.intent_id AND t.position = seen.position AND t.amount_usd = a.usd OFFSET 0
      ) AS paid
    ), calls AS MATERIALIZED (
      SELECT call.* FROM (SELECT DISTINCT intent_id FROM same) AS found CROSS JOIN LATERAL (
        SELECT i.id, i.client_id, coalesce(o.sent_at, i.received_at) AS paid_at, ${STATE_COLUMNS}
        FROM ${CALLS} WHERE i.id = found.intent_id OFFSET 0
      ) AS call
      WHERE ${stateIn(MAY_BE_PAID)}
    )
    SELECT DISTINCT ON (same.wanted_by, same.position) same.position, same.wanted_by::text AS "wantedBy",
      calls.id::text AS "callId", calls.paid_at AS "paidAt"
    FROM same JOIN calls ON calls.id = same.intent_id AND (calls.client_id = same.client_id) = ${whose === 'own'}
    ORDER BY same.wanted_by, same.position, calls.id DESC`;
}

/** Returns the recipient in the one field that counts, and the amount. */
function toRow({ callId, clientId, position, item }: Wanted) {
  return recordedItems([item]).map(({ recipientField, email, phone, handle, receiver, amountUsd }) => {
    const isReceiver = recipientField === 'receiver';
    const isContact = isReceiver && (email ?? phone ?? handle) !== null; // then the stored user ID is a mask
    return {
      wanted_by: callId,
      client_id: clientId,
      position,
      phone: isReceiver || recipientField === 'phone' ? phone : null,
      email: isReceiver || recipientField === 'email' ? (email?.toLowerCase() ?? null) : null,
      handle: isReceiver || recipientField === 'handle' ? (handle?.toLowerCase() ?? null) : null,
      receiver: isReceiver && !isContact ? receiver : null,
      usd: amountUsd?.toFixed() ?? null,
    };
  });
}
