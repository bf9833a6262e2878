import { Client } from 'pg';
import { ofAccount } from '../../journal/records/accounts';
import { evidenceOfTransaction } from '../../journal/records/records';
import { namedCallSql } from '../../operations/catalogue/payout-id';
import { CREATING } from '../../operations/items/effects';
import { ZONE_ERROR_MS } from '../../operations/lifecycle/upstream-clock';
import { Prisma } from '../../platform/database/generated/client';
import { idFloor } from '../../platform/database/uuid';
import { PayoutNews } from './payout-news';
import { INCOMING_TYPES } from './plan';

/** Maximum number of calls compared with the unclaimed transactions, newest first. */
const MOST_CALLS = 100_000;

/** Maximum number of names by which calls are found, those of the newest transactions first. */
const MOST_TERMS = 50_000;

/**
 * The transactions of an account without a payout `b`, with their last sightings `t`, since a time. The index
 * has the time of their first sighting, which never changes and is no earlier than their issue, clocks aside.
 */
export const unclaimed = (account: string, since: Date) => Prisma.sql`
  book_transaction b JOIN upstream_transaction t ON t.read_id = b.read_id AND t.ordinal = b.ordinal
  WHERE b.account = ${account} AND b.call_id IS NULL
    AND coalesce(b.issued_at, b.shown_at) >= ${since}::timestamptz
    AND b.shown_at >= ${new Date(since.getTime() - ZONE_ERROR_MS)}::timestamptz`;

/**
 * Finds the calls that may have made an unclaimed transaction: they share a name of its recipient or one of
 * its own names, and a payout of theirs has no transaction. The search index must be up to date.
 */
export async function findCandidates(
  db: Client,
  account: string,
  since: Date,
  mostTerms = MOST_TERMS,
): Promise<string[]> {
  const first = idFloor(since);
  const { rows } = await db.query<{ id: string }>(Prisma.sql`
    WITH shown AS MATERIALIZED (
      SELECT t.*, b.shown_at, b.answered_call FROM ${unclaimed(account, since)}
    ), wanted AS MATERIALIZED (
      SELECT v.term FROM shown t CROSS JOIN LATERAL (VALUES
        (search_term('to', recipient_key('email', t.email))),
        (search_term('to', recipient_key('phone', t.phone))),
        (search_term('to', recipient_key('handle', t.handle))),
        (search_term('receiver', t.receiver)),
        (search_term('ref', t.upstream_ref)), (search_term('ref', t.upstream_id)),
        (search_term('ref', t.batch_ref))) AS v(term)
      WHERE v.term IS NOT NULL GROUP BY v.term ORDER BY max(t.shown_at) DESC LIMIT ${mostTerms}
    ), call AS (
      -- One look-up for each term: the index compares each call it finds with all terms of a condition.
      SELECT e.call_id FROM (
        SELECT DISTINCT e.call_id, e.client_id, e.item_usd FROM wanted CROSS JOIN LATERAL (
          SELECT * FROM indexed_call
          WHERE terms @> ARRAY[wanted.term] AND call_id >= ${first}::uuid
            AND operation = ANY (${CREATING}::text[])
        ) AS e
        UNION
        SELECT call_id, client_id, item_usd FROM indexed_call
        WHERE call_id >= ${first}::uuid AND operation = ANY (${CREATING}::text[]) AND call_id = ANY (ARRAY(
          SELECT answered_call FROM shown
          UNION SELECT unnest(calls_named('reference', ARRAY(
            SELECT DISTINCT reference FROM shown WHERE lower(type) = ANY (${INCOMING_TYPES}::text[])
              AND reference IS NOT NULL LIMIT ${mostTerms}), ${MOST_CALLS}::integer, ${first}::uuid))))
      ) AS e
      WHERE ${ofAccount('e.client_id', account)}
        AND (SELECT count(*) FROM book_transaction b WHERE b.call_id = e.call_id) < cardinality(e.item_usd)
      UNION
      SELECT id FROM intent i WHERE i.id IN (SELECT ${Prisma.raw(namedCallSql('reference'))} FROM shown)
        AND i.id >= ${first}::uuid AND ${ofAccount('i.client_id', account)}
    )
    SELECT call_id::text AS id FROM call ORDER BY 1 DESC LIMIT ${MOST_CALLS}`);
  return rows.map(({ id }) => id);
}

export type NewsRow = Omit<PayoutNews, 'transaction'> &
  Record<'upstreamRef' | 'upstreamId' | 'batchRef', string | null> & { issuedAt: Date | null };

/** Reads the news of the last entered reading about payouts, from the temporary table `news`. */
export async function readNews(db: Client, readId: string): Promise<PayoutNews[]> {
  const { rows } = await db.query<NewsRow>(Prisma.sql`
    SELECT b.call_id::text AS "callId", b.position, b.id::text, NULL AS ground, ${readId} AS "readId",
      n.ordinal::text, n.status, n.amount_usd::text AS amount, n.fee_usd::text AS fee,
      b.upstream_ref AS "upstreamRef", b.upstream_id AS "upstreamId",
      coalesce(n.batch_ref, b.batch_ref) AS "batchRef", n.issued_at AS "issuedAt"
    FROM news n JOIN book_transaction b ON b.id = n.book_id
    WHERE b.call_id IS NOT NULL AND n.contradiction IS NULL AND n.is_news
    ORDER BY 1, 2`);
  return rows.map(toNews);
}

export function toNews({ upstreamRef, upstreamId, batchRef, issuedAt, ...row }: NewsRow): PayoutNews {
  const names = { upstreamRef, upstreamId, batchRef, status: row.status };
  return { ...row, transaction: evidenceOfTransaction(names, issuedAt) };
}
