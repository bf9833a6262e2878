import { Transaction } from '../../gateway/upstream/answers/transactions';
import { PayoutPlace } from '../../operations/catalogue/payout-id';
import { CREATED_BY } from '../../operations/items/effects';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Prisma } from '../../platform/database/generated/client';
import { PayoutClaim } from '../book/contradictions.service';
import { SET_ASIDE_FLOW } from '../book/flows';
import { hasOtherRecipient, hasOtherType } from '../book/pairing/agreement';
import { Ground } from '../book/pairing/grounds';

/** An attribution that a person requests. */
export interface AttributionRequest extends PayoutPlace {
  /** ID of the transaction in the book. */
  transactionId: string;
  /** The payouts whose attributions it supersedes: the payout itself, or that of the transaction. */
  supersedes: readonly PayoutPlace[];
}

/** A transaction of the book as it is now, compared with a payout. */
export interface AttributionFacts extends Pick<
  Transaction,
  'upstreamRef' | 'upstreamId' | 'batchRef' | 'issuedAt' | 'status'
> {
  id: string;
  /** In US dollars. */
  amount: string | null;
  fee: string | null;
  readId: string | null;
  ordinal: string | null;
  /** Whether a stored reading shows it, with its recipient. */
  isShown: boolean;
  isOfAccount: boolean;
  hasAnotherRecipient: boolean;
  hasAnotherType: boolean;
  /** Its kind if it is no payment, such as `refund`. */
  flow: string | null;
  /** Its payout. */
  owner: PayoutClaim | null;
  /** The transaction of the payout. */
  own: { id: string; ground: Ground } | null;
}

/** The type of the transactions that an operation creates. */
const TYPES = JSON.stringify(Object.fromEntries([...CREATED_BY].map(([name, { type }]) => [name, type])));

/**
 * Reads and locks a transaction of the book and that of a payout.
 * @returns undefined if the book has no such transaction.
 */
export async function readFacts(
  tx: Prisma.TransactionClient,
  { transactionId, callId, position }: AttributionRequest,
): Promise<AttributionFacts | undefined> {
  const isOwn = Prisma.sql`call_id = ${callId}::uuid AND position = ${position}::integer`;
  await tx.$queryRaw`
    SELECT id::text FROM book_transaction WHERE id = ${transactionId}::uuid OR ${isOwn}
    ORDER BY id FOR UPDATE`;
  const [facts] = await tx.$queryRaw<AttributionFacts[]>`
    SELECT b.id::text, b.upstream_ref AS "upstreamRef", b.upstream_id AS "upstreamId",
      b.batch_ref AS "batchRef", b.issued_at AS "issuedAt", b.status,
      trim_scale(b.amount_usd)::text AS amount, b.fee_usd::text AS fee,
      b.read_id::text AS "readId", b.ordinal::text,
      t.read_id IS NOT NULL AS "isShown", b.account = coalesce(c.account, ${MAIN_ACCOUNT}) AS "isOfAccount",
      ${hasOtherRecipient(Prisma.sql`recipient_keys(p.email, p.phone, p.handle, n.receiver)`)}
        AS "hasAnotherRecipient",
      coalesce(${hasOtherType(Prisma.sql`(${TYPES}::json ->> i.operation)`)}, FALSE) AS "hasAnotherType",
      t.flow, CASE WHEN b.call_id IS NOT NULL THEN json_build_object(
        'callId', b.call_id, 'position', b.position, 'ground', b.ground) END AS owner,
      (SELECT json_build_object('id', id, 'ground', ground) FROM book_transaction WHERE ${isOwn}) AS own
    FROM book_transaction b JOIN intent i ON i.id = ${callId}::uuid LEFT JOIN client c ON c.id = i.client_id
    LEFT JOIN LATERAL (
      SELECT *, ${SET_ASIDE_FLOW} AS flow FROM upstream_transaction
      WHERE read_id = b.read_id AND ordinal = b.ordinal
    ) AS t ON TRUE
    LEFT JOIN intent_item n ON n.intent_id = i.id AND n.position = ${position}::integer
    LEFT JOIN item_recipient p ON p.intent_id = i.id AND p.position = n.position
    WHERE b.id = ${transactionId}::uuid`;
  return facts;
}
