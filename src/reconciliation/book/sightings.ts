import { Client } from 'pg';
import { Prisma } from '../../platform/database/generated/client';
import { LOCKS } from '../../platform/database/locks';
import { runAll } from './connection';
import { ITEMS_OF_CALL } from './items-of-call';
import { CONTRADICTION } from './pairing/agreement';
import { MAKE_COMPARED_OPERATIONS } from './plan';

/**
 * Enters the transactions of a reading in the book. New ones become rows. News about one without a payout is
 * applied. News about one with a payout is left in the temporary table `news`, because its payout is settled
 * in the same transaction. A row that contradicts the transaction of its name is entered as one of its own.
 * @param db a dedicated connection. Its temporary tables live until the next reading.
 */
export async function enterReading(db: Client, account: string, readId: string): Promise<void> {
  await runAll(db, [
    ...MAKE_COMPARED_OPERATIONS,
    ...makeSightings(account, readId),
    ...makeNews(account, readId),
    Prisma.sql`BEGIN`,
    // The search index enters answers meanwhile.
    Prisma.sql`SELECT pg_advisory_xact_lock(${LOCKS.book})`,
    RELEASE_REFUTED,
    ...insertNew(account, readId),
    updateUnclaimed(account, readId),
    updateFirst(readId),
    Prisma.sql`COMMIT`,
  ]);
}

/** Returns SQL that is true for a transaction `k` of the book with an ID. */
export const hasId = (account: string, id: Prisma.Sql) => Prisma.sql`k.account = ${account}
  AND name_key('id', k.account, k.upstream_id) = name_key('id', ${account}, ${id})`;

/**
 * `sighting`: each transaction of the reading with its row in the book, and whether it has news about it. A
 * transaction without a name gets one from its other facts. `LIMIT` keeps the lookups by index: until the
 * server has statistics of a new book, it expects one row for each account, and would compare each pair.
 */
function makeSightings(account: string, readId: string): Prisma.Sql[] {
  return [
    Prisma.sql`DROP TABLE IF EXISTS sighting, repeated, compared, sighted_payout, news, entering`,
    Prisma.sql`CREATE TEMP TABLE sighting AS
    WITH shown AS MATERIALIZED (
      SELECT *, book_name(upstream_ref, phone) AS ref, book_name(upstream_id, phone) AS id
      FROM upstream_transaction WHERE read_id = ${readId}::uuid
    )
    SELECT s.ordinal, s.upstream_ref, s.upstream_id, b.id AS book_id,
      -- Only an answer has shown it, or several transactions have its name.
      b.read_id IS NULL OR s.upstream_id IS NULL AND EXISTS (
        SELECT FROM book_transaction
        WHERE account = ${account} AND upstream_ref = s.upstream_ref AND variant > 0) AS is_unsure,
      b.id IS NULL OR book_status(s.status) IS DISTINCT FROM b.status
        OR coalesce(s.fee_usd, 0) <> coalesce(b.fee_usd, 0) OR s.amount_usd <> round(b.amount_usd, 6)
        AS is_news
    FROM (
      SELECT ordinal, ref AS upstream_ref, id AS upstream_id, status, amount_usd, fee_usd
      FROM shown WHERE coalesce(ref, id) IS NOT NULL
      UNION ALL
      SELECT ordinal,
        'nameless ' || content || ' ' || row_number() OVER (PARTITION BY content ORDER BY ordinal),
        NULL, status, amount_usd, fee_usd
      FROM (
        SELECT *, md5(concat_ws(' ', issued_at, type, amount_usd, batch_ref)) AS content
        FROM shown WHERE coalesce(ref, id) IS NULL
      ) AS nameless
    ) AS s
    LEFT JOIN LATERAL (
      SELECT * FROM (
        SELECT * FROM book_transaction k
        WHERE ${hasId(account, Prisma.sql`s.upstream_id`)}
          -- One with another reference is another transaction. Without one, its ID stands for it.
          AND (upstream_ref = upstream_id OR coalesce(s.upstream_ref = upstream_ref, TRUE))
        UNION ALL
        SELECT * FROM book_transaction
        WHERE id = name_key('ref', ${account}, s.upstream_ref)
          AND (upstream_id IS NULL OR s.upstream_id IS NULL)
      ) AS found LIMIT 1
    ) AS b ON TRUE`,
    Prisma.sql`CREATE TEMP TABLE repeated AS
    SELECT book_id FROM sighting WHERE book_id IS NOT NULL GROUP BY book_id HAVING count(*) > 1`,
    Prisma.sql`CREATE TEMP TABLE compared AS
    SELECT s.ordinal, s.upstream_ref, s.upstream_id, s.book_id, s.is_news, b.call_id, b.position
    FROM sighting s LEFT JOIN book_transaction b ON b.id = s.book_id
    WHERE s.is_news OR s.is_unsure OR s.book_id IN (SELECT book_id FROM repeated)`,
    Prisma.sql`CREATE TEMP TABLE sighted_payout AS
    SELECT c.call_id, i.position, i.amount_usd, i.reference, o.type, o.incoming,
      recipient_keys(i.email, i.phone, i.handle, i.receiver) AS keys
    FROM (SELECT DISTINCT call_id FROM compared WHERE call_id IS NOT NULL) AS c
    JOIN intent ON intent.id = c.call_id JOIN compared_operation o ON o.operation = intent.operation
    LEFT JOIN intent_body ON intent_body.intent_id = c.call_id
    CROSS JOIN LATERAL (${ITEMS_OF_CALL}) AS i`,
    Prisma.sql`ANALYZE compared; ANALYZE sighted_payout`,
  ];
}

/**
 * `news`: the sightings that are new, changed, repeated or unsure. One for each transaction. `contradiction`
 * is null if the row agrees with the payout of its transaction, or with an earlier sighting of it.
 */
function makeNews(account: string, readId: string): Prisma.Sql[] {
  return [
    Prisma.sql`CREATE TEMP TABLE news AS
    SELECT DISTINCT ON (book_id, upstream_ref, upstream_id, contradiction, amount_usd) * FROM (
      SELECT s.ordinal, coalesce(s.upstream_ref, s.upstream_id) AS upstream_ref, s.upstream_id, s.book_id,
        book_name(t.batch_ref, t.phone) AS batch_ref, t.issued_at, t.amount_usd, t.fee_usd, t.status,
        s.call_id, s.position, s.is_news,
        CASE WHEN b.id IS NOT NULL THEN ${CONTRADICTION} END AS contradiction
      FROM compared s
      JOIN upstream_transaction t ON t.read_id = ${readId}::uuid AND t.ordinal = s.ordinal
      LEFT JOIN book_transaction b ON b.id = s.book_id
      LEFT JOIN upstream_transaction e ON e.read_id = b.read_id AND e.ordinal = b.ordinal
      LEFT JOIN sighted_payout o ON o.call_id = s.call_id AND o.position = s.position
    ) AS rows
    ORDER BY book_id, upstream_ref, upstream_id, contradiction, amount_usd, ordinal`,
    // A row that contradicted before is news about a transaction of its own.
    Prisma.sql`UPDATE pg_temp.news n
    SET book_id = b.id, call_id = b.call_id, position = b.position, contradiction = NULL, is_news = TRUE
    FROM book_transaction b
    WHERE n.contradiction IS NOT NULL AND b.account = ${account} AND b.upstream_ref = n.upstream_ref
      AND b.variant > 0 AND b.upstream_id IS NULL AND b.amount_usd IS NOT DISTINCT FROM n.amount_usd`,
    Prisma.sql`CREATE INDEX ON news (upstream_id); ANALYZE news`,
  ];
}

/**
 * Takes transactions from payouts whose answers name them, if their first sightings contradict the payouts:
 * the answer or the listing lies. From now on, they are news about transactions without a payout.
 */
const RELEASE_REFUTED = Prisma.sql`
  WITH refuted AS (
    SELECT DISTINCT ON (book_id) * FROM news n WHERE contradiction IS NOT NULL AND NOT EXISTS (
      SELECT FROM news a WHERE a.book_id = n.book_id AND a.contradiction IS NULL)
    ORDER BY book_id, ordinal
  ), released AS (
    UPDATE book_transaction b SET call_id = NULL, position = NULL, ground = NULL, attributed_at = NULL
    FROM refuted n WHERE b.id = n.book_id AND b.call_id IS NOT NULL AND b.read_id IS NULL
      AND b.ground <> 'person'
    RETURNING b.id, n.ordinal, n.contradiction, n.call_id, n.position
  ), recorded AS (
    INSERT INTO book_contradiction (id, transaction_id, kind, call_id, position)
    SELECT new_id(), id, contradiction, call_id, position FROM released ON CONFLICT DO NOTHING
  )
  UPDATE pg_temp.news n SET contradiction = NULL FROM released r WHERE n.ordinal = r.ordinal`;

/** Whether a row of `news` is the first with its ID, known ones first. An ID belongs to one transaction. */
const IS_FIRST = Prisma.sql`n.ordinal = (
  SELECT m.ordinal FROM news m WHERE m.upstream_id = n.upstream_id
  ORDER BY m.book_id IS NULL, m.ordinal LIMIT 1)`;

/**
 * Inserts new transactions. `entering` has them, because lookups by the insertion itself would be planned for
 * the book before it, which may be empty.
 */
function insertNew(account: string, readId: string): Prisma.Sql[] {
  return [
    Prisma.sql`CREATE TEMP TABLE entering AS
    SELECT n.ordinal, n.upstream_ref, n.batch_ref, n.issued_at, n.amount_usd, n.fee_usd, n.status,
      CASE WHEN ${IS_FIRST} AND i.id IS NULL THEN n.upstream_id END AS upstream_id,
      coalesce(k.variants, 0) + row_number() OVER (PARTITION BY n.upstream_ref ORDER BY n.ordinal) - 1
        AS variant,
      coalesce(n.book_id, i.id) AS book_id,
      coalesce(n.contradiction, CASE WHEN i.id IS NULL THEN 'reference' ELSE 'id' END) AS contradiction
    FROM news n LEFT JOIN LATERAL (
      SELECT id FROM book_transaction k WHERE ${hasId(account, Prisma.sql`n.upstream_id`)}
      UNION ALL
      SELECT book_id FROM news WHERE upstream_id = n.upstream_id AND book_id IS DISTINCT FROM n.book_id
      LIMIT 1
    ) AS i ON TRUE LEFT JOIN LATERAL (
      SELECT max(variant) + 1 AS variants FROM transactions_named(${account}, n.upstream_ref) AS b
      WHERE b.upstream_ref = n.upstream_ref
    ) AS k ON TRUE
    WHERE n.book_id IS NULL OR n.contradiction IS NOT NULL`,
    Prisma.sql`
    WITH entered AS (
      INSERT INTO book_transaction (account, upstream_ref, upstream_id, batch_ref, variant, issued_at,
        amount_usd, fee_usd, status, read_id, ordinal)
      SELECT ${account}, upstream_ref, upstream_id, batch_ref, variant, issued_at, amount_usd,
        fee_usd, book_status(status), ${readId}::uuid, ordinal
      FROM entering
      ON CONFLICT DO NOTHING
      RETURNING id, upstream_ref, ordinal, variant
    )
    INSERT INTO book_contradiction (id, transaction_id, kind, variant_id)
    SELECT new_id(), b.id, n.contradiction, e.id
    FROM entered e JOIN entering n ON n.ordinal = e.ordinal
    JOIN book_transaction b ON b.id = coalesce(n.book_id, name_key('ref', ${account}, e.upstream_ref))
    WHERE e.variant > 0 OR n.contradiction <> 'reference'
    ON CONFLICT DO NOTHING`,
  ];
}

/** Applies the news about a transaction without a payout. */
function updateUnclaimed(account: string, readId: string): Prisma.Sql {
  return Prisma.sql`
    UPDATE book_transaction b SET status = book_status(n.status), fee_usd = n.fee_usd,
      amount_usd = coalesce(n.amount_usd, b.amount_usd), issued_at = coalesce(n.issued_at, b.issued_at),
      batch_ref = coalesce(n.batch_ref, b.batch_ref),
      upstream_id = CASE WHEN b.upstream_id IS NULL AND b.variant = 0 AND ${IS_FIRST} AND NOT EXISTS (
          SELECT FROM book_transaction k WHERE ${hasId(account, Prisma.sql`n.upstream_id`)}
        ) THEN n.upstream_id ELSE b.upstream_id END,
      read_id = ${readId}::uuid, ordinal = n.ordinal
    FROM news n
    WHERE b.call_id IS NULL AND b.id = n.book_id AND n.contradiction IS NULL`;
}

/** Notes the first sighting of a transaction with a payout that agrees with its answer. */
function updateFirst(readId: string): Prisma.Sql {
  return Prisma.sql`
    UPDATE book_transaction b SET read_id = ${readId}::uuid, ordinal = n.ordinal,
      issued_at = coalesce(n.issued_at, b.issued_at), batch_ref = coalesce(n.batch_ref, b.batch_ref)
    FROM news n
    WHERE b.call_id IS NOT NULL AND b.id = n.book_id AND b.read_id IS NULL AND n.contradiction IS NULL
      AND NOT n.is_news`;
}
