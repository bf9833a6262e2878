import { Author } from '../../access/auth/call';
import { evidenceOfTransaction, NewEntry, NewSettlement } from '../../journal/records/records';
import { SettledCall } from '../../journal/settlement/settled-call';
import { PayoutPlace } from '../../operations/catalogue/payout-id';
import { CREATED_BY } from '../../operations/items/effects';
import { entryOf } from '../../operations/lifecycle/settlement';
import { StatusVocabulary } from '../../operations/lifecycle/statuses';
import { Timeouts } from '../../platform/config/upstream/upstream-timeouts';
import { Prisma } from '../../platform/database/generated/client';
import { isUniqueViolation } from '../../platform/database/pools/unique-violation';
import { Problem } from '../../platform/errors/problem';
import { doubtPayout, releaseTransactions } from '../book/contradictions.service';
import { feeOf } from '../book/payout-news';
import { AttributionFacts, AttributionRequest } from './attribution-facts';

/** Circumstances of a person's attribution. */
interface AttributionContext {
  by: Author & { reason: string };
  vocabulary: StatusVocabulary;
}

/** Returns the settlement of a payout by the transaction that a person attributes to it. */
export function settlementOf(
  { intent, items }: SettledCall,
  facts: AttributionFacts,
  { position, supersedes }: AttributionRequest,
  { by: { reason, ...by }, vocabulary }: AttributionContext,
): NewSettlement | undefined {
  const item = items[position];
  if (!item) return undefined;
  const transaction = evidenceOfTransaction(facts, facts.issuedAt);
  const entry = entryOf(vocabulary.statusOf(facts.status), CREATED_BY.get(intent.operation));
  // The fee of an earlier transaction is no fee of this one.
  const fee = facts.own ? (facts.fee ?? '0') : facts.fee;
  const entries: NewEntry[] = [
    { position, entry, transaction },
    ...feeOf(item, { position, fee, transaction }),
  ];
  const reads = facts.readId === null ? [] : [facts.readId];
  const calls = [...new Set(supersedes.map(({ callId }) => callId))].filter((id) => id !== intent.id);
  return { intentId: intent.id, source: 'person', reason, by, entries, evidence: { reads, calls } };
}

/**
 * Gives a transaction to a payout. The payout that loses it is in doubt, which the resolver ends.
 * @throws Problem `resolution_superseded` if another process attributes one to the payout meanwhile.
 */
export async function moveTransaction(
  tx: Prisma.TransactionClient,
  { id, own, owner }: AttributionFacts,
  { callId, position }: PayoutPlace,
  timeouts: Timeouts,
): Promise<void> {
  if (own) await releaseTransactions(tx, [own.id]);
  await tx.$executeRaw`
    UPDATE book_transaction SET call_id = ${callId}::uuid, position = ${position}::integer, ground = 'person',
      attributed_at = clock_timestamp()
    WHERE id = ${id}::uuid`.catch((error: unknown) => {
    throw isUniqueViolation(error) ? new Problem('resolution_superseded') : error;
  });
  if (!owner) return;
  await doubtPayout(tx, owner, LOST, timeouts);
  // A record of the other payout may name the transaction. The person knew that.
  await tx.$executeRaw`
    INSERT INTO book_contradiction (id, transaction_id, kind, call_id, position, ground, handled_at)
    VALUES (new_id(), ${id}::uuid, 'owner', ${owner.callId}::uuid, ${owner.position}::integer,
      ${owner.ground}, clock_timestamp())
    ON CONFLICT DO NOTHING`;
}

const LOST = 'A person attributed the transaction that was taken for that of this payout to another one.';
