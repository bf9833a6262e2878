import { Owner } from '../../access/auth/owner';
import { Limits } from '../../access/clients/limits/limits';
import { catchUpIndex } from '../../journal/lookups/search-index';
import { recipientTerm } from '../../journal/lookups/search-terms';
import { Item, paidName } from '../../operations/items/item';
import { COUNTED } from '../../operations/lifecycle/entries';
import { EXECUTED, OPEN } from '../../operations/lifecycle/lifecycle';
import { CALLS, STATE_COLUMNS, stateIn } from '../../operations/lifecycle/lifecycle-sql';
import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { uuidFloor } from '../../platform/database/uuid';

/** A payment of the same amount to the same recipient. */
export interface EarlierPayment {
  /** Position of the item that repeats it. */
  position: number;
  callId: string;
  paidAt: Date;
}

/** States of calls that have paid, may have paid or may still pay. */
const MAY_BE_PAID = [...EXECUTED, ...OPEN];

/**
 * Shortest search period in days. Wages and prizes are paid weekly at most, and a list that was uploaded
 * twice is usually noticed within days. Further back, most matches would be recurring payments.
 */
const EARLIER_DAYS = 7;

/**
 * Returns, for each item, the latest call that has paid the same, may have paid it or may still pay it.
 * People do not learn the recipients of others.
 * @param owner owner of the calls.
 */
export async function readEarlierPayments(
  prisma: SidePrisma,
  { owner: { clientId, person }, limits }: { owner: Owner; limits: Limits },
  items: { position: number; item: Item }[],
): Promise<EarlierPayment[]> {
  const wanted = JSON.stringify(items.flatMap(toSearchRow));
  const days = Math.max(EARLIER_DAYS, limits.holdDuplicatesDays ?? 0);
  const since = uuidFloor(new Date(clock.nowMs() - days * 86_400_000));
  const ofPerson = person ? Prisma.sql`AND terms @> ${[`person:${person.id}`]}::text[]` : Prisma.empty;
  await catchUpIndex(prisma);
  // MATERIALIZED and OFFSET 0 fix the order: the calls of each recipient, their payouts, their states.
  return prisma.$queryRaw<EarlierPayment[]>`
    WITH wanted AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${wanted}::json)
        AS a(position integer, term text, key text, usd numeric)
    ), named AS MATERIALIZED (
      SELECT call_id FROM indexed_call
      WHERE terms && ARRAY(SELECT term FROM wanted)
        AND terms && ARRAY(SELECT 'week:' || search_week(${since}::uuid) + n
          FROM generate_series(0, ${Math.ceil(days / 7)}::integer) AS n)
        AND client_id = ${clientId}::uuid AND call_id >= ${since}::uuid ${ofPerson}
    ), payout AS MATERIALIZED (
      -- Each document is parsed once, however many payouts it has.
      SELECT n.call_id, t.position, t.amount_usd, recipient_key('email', t.email) AS email,
        recipient_key('phone', t.phone) AS phone,
        recipient_key('handle', t.handle) AS handle, recipient_key('receiver', t.receiver) AS receiver
      FROM named n CROSS JOIN LATERAL (SELECT record FROM intent WHERE id = n.call_id OFFSET 0) AS i
      LEFT JOIN LATERAL (SELECT people FROM intent_body WHERE intent_id = n.call_id OFFSET 0) AS b ON TRUE
      CROSS JOIN LATERAL (
        SELECT t.ordinal - 1 AS position, t.amount_usd, t.receiver, r.email, r.phone, r.handle
        FROM ROWS FROM (json_to_recordset(i.record::json -> 'items') AS (amount_usd numeric, receiver text))
          WITH ORDINALITY AS t(amount_usd, receiver, ordinal)
        LEFT JOIN json_to_recordset(b.people::json)
          AS r(position integer, email text, phone text, handle text) ON r.position = t.ordinal - 1
      ) AS t
    ), same AS (
      SELECT a.position, p.call_id, p.position AS payout FROM wanted a JOIN payout p ON p.amount_usd = a.usd
        AND a.key IN (p.email, p.phone, p.handle, p.receiver)
    ), calls AS MATERIALIZED (
      SELECT call.* FROM (SELECT DISTINCT call_id FROM same) AS found CROSS JOIN LATERAL (
        SELECT i.id, coalesce(o.sent_at, i.recorded_at) AS paid_at, ${STATE_COLUMNS},
          o.record::json -> 'entries' AS entries, i.item_count
        FROM ${CALLS} WHERE i.id = found.call_id OFFSET 0
      ) AS call
      WHERE ${stateIn(MAY_BE_PAID)}
    )
    SELECT DISTINCT ON (same.position) same.position, calls.id::text AS "callId", calls.paid_at AS "paidAt"
    FROM same JOIN calls ON calls.id = same.call_id
    -- A payout that failed or came back does not count, whatever the outcome of its call.
    WHERE NOT EXISTS (
      SELECT FROM last_entries(calls.id, calls.entries, calls.item_count, NULL)
      WHERE pos = same.payout AND entry <> ALL (${COUNTED}::text[]))
    ORDER BY same.position, calls.id DESC`;
}

/** Returns the recipient's paying name, and the amount. */
function toSearchRow({ position, item }: { position: number; item: Item }) {
  const paid = paidName(item);
  if (!paid) return [];
  return [{ position, term: recipientTerm(paid.key), key: paid.key, usd: item.amountUsd?.toFixed() ?? null }];
}
