import { Client } from 'pg';
import { insertion } from '../../journal/records/document-sql';
import { Entry } from '../../operations/lifecycle/settlement';
import { Prisma } from '../../platform/database/generated/client';
import { NewsRow, toNews } from '../book/candidates';
import { recordNews } from '../book/news-settlement';
import { IN_DOUBT } from '../book/ours';
import { CONTRADICTION_OF_PAIR } from '../book/pairing/agreement';
import { PayoutNews } from '../book/payout-news';
import { Plan } from '../book/plan';

/** The fact that a statement has the transaction of a payout. */
export interface StatementProof extends PayoutNews {
  ground: string;
  upstreamRef: string | null;
  upstreamId: string | null;
}

/** Entries of payouts that a statement may settle. */
export const PROVABLE: readonly Entry[] = [...IN_DOUBT, 'not_executed'];

/** Returns SQL for the names that several rows of the statement have. They name nothing. */
const repeated = (column: Prisma.Sql) => Prisma.sql`(
  SELECT ${column} FROM theirs WHERE ${column} IS NOT NULL GROUP BY 1 HAVING count(*) > 1)`;

/**
 * Reads the certain matches of a run over a statement that prove payouts, from its temporary tables. The book
 * must know neither a transaction of the payout nor that of the statement: what a listing or an answer has
 * shown, a statement does not change.
 */
export async function readProofs(db: Client, { account }: Plan): Promise<StatementProof[]> {
  const { rows } = await db.query<NewsRow & { ground: string }>(Prisma.sql`
    SELECT o.call_id::text AS "callId", o.position, p.rule AS ground,
      transaction_key(${account}, n.upstream_ref, n.upstream_id)::text AS id,
      t.read_id::text AS "readId", t.ordinal::text, t.status, t.amount_usd::text AS amount,
      t.fee_usd::text AS fee, n.upstream_ref AS "upstreamRef", n.upstream_id AS "upstreamId",
      t.batch_ref AS "batchRef", t.issued_at AS "issuedAt"
    FROM pair p JOIN ours o ON o.n = p.o JOIN theirs s ON s.n = p.t
    JOIN compared_operation c ON c.operation = o.operation
    JOIN upstream_transaction t ON t.read_id = s.read_id AND t.ordinal = s.ordinal
    CROSS JOIN LATERAL (SELECT book_name(t.upstream_ref, t.phone) AS upstream_ref,
      book_name(t.upstream_id, t.phone) AS upstream_id) AS n
    WHERE p.certainty = 'certain' AND ${CONTRADICTION_OF_PAIR} IS NULL
      AND o.entry = ANY (${[...PROVABLE]}::text[])
      AND s.word = 'moved' AND btrim(t.status) <> '' AND coalesce(n.upstream_ref, n.upstream_id) IS NOT NULL
      AND (s.upstream_ref IS NULL OR s.upstream_ref NOT IN ${repeated(Prisma.sql`upstream_ref`)})
      AND (s.upstream_id IS NULL OR s.upstream_id NOT IN ${repeated(Prisma.sql`upstream_id`)})
      AND NOT EXISTS (SELECT FROM book_transaction b
        WHERE b.call_id = o.call_id AND b.position = o.position)
      AND NOT EXISTS (SELECT FROM transactions_named(${account}, n.upstream_ref))
      AND NOT EXISTS (SELECT FROM transactions_named(${account}, n.upstream_id))
    ORDER BY 1, 2`);
  return rows.map(({ ground, ...row }) => {
    const { upstreamRef, upstreamId } = row;
    return { ...toNews({ ...row, ground }), ground, upstreamRef, upstreamId };
  });
}

/** Enters the transactions of proofs in the book, each with its payout. */
export async function enterProofs(
  tx: Prisma.TransactionClient,
  account: string,
  proofs: readonly StatementProof[],
): Promise<void> {
  if (proofs.length === 0) return;
  const names = proofs.map(({ upstreamRef, upstreamId }) => {
    return { account, upstream_ref: upstreamRef, upstream_id: upstreamId };
  });
  await tx.$executeRaw(insertion('book_transaction', names));
  await recordNews(tx, proofs);
}
