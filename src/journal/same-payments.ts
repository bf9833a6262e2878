import { NIL } from 'uuid';
import { Prisma } from '../platform/database/generated/client';
import { PrismaService } from '../platform/database/prisma.service';
import { uuidFloor } from '../platform/database/uuid';
import { Item } from '../operations/item';
import { EXECUTED, OPEN } from '../operations/lifecycle';
import { CALLS, STATE_COLUMNS, stateIn } from '../operations/lifecycle-sql';
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

/** Calls in these states have paid, may have, or wait to do so. */
const MAY_BE_PAID = [...EXECUTED, ...OPEN];

/**
 * How far back an item's like is looked for. Wages and prizes are paid weekly at most, and a list that is uploaded a second
 * time is mostly noticed within days; further back, payments that are meant to recur would be most of what is found.
 */
const EARLIER_DAYS = 7;

/** Which of the items the client has paid already within the last days. */
export function readEarlierPayments(
  prisma: PrismaService,
  clientId: string,
  items: { position: number; item: Item }[],
): Promise<SamePayment[]> {
  const wanted = items.map(({ position, item }) => ({ position, item, callId: NIL, clientId }));
  return readSamePayments(prisma, wanted, 'own', EARLIER_DAYS * 86_400_000);
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
  // Step by step, each by the primary key of what it looks up (OFFSET 0 keeps them apart): left to itself, the planner reads all
  // items of a call for each of its items that is looked for. Each call is judged once, however many of its items were found.
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

/** Whom the item pays, in the one field that counts, and how much. */
function toRow({ callId, clientId, position, item }: Wanted) {
  return recordedItems([item]).map(({ recipientField, email, phone, handle, receiver, amountUsd }) => {
    const isReceiver = recipientField === 'receiver';
    const isContact = isReceiver && (email ?? phone ?? handle) !== null; // then what else is kept of it is its mask
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
