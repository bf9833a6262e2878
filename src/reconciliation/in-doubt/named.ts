import { CallState, STATES } from '../../operations/lifecycle';
import { ofAccount } from '../../journal/of-account';
import { TAGS, termOf } from '../../journal/terms';
import { PrismaService } from '../../platform/database/prisma.service';
import { CHANGED_BY, CREATED_BY } from '../../operations/effects';
import { SentCallState } from './read-calls';

/** Our knowledge of a transaction that a call deletes or redeems. */
export interface Named {
  upstreamId: string | null;
  /** The operation that created it. Null if none of ours did. */
  madeBy: string | null;
  /** Other calls that delete or redeem it. */
  others: string[];
}

/**
 * Reads our knowledge of the transaction that a call to an account deletes or redeems. The search index must be up to
 * date.
 */
export async function readNamed(
  prisma: PrismaService,
  { id: callId, account }: Pick<SentCallState, 'id' | 'account'>,
  upstreamRef: string,
): Promise<Named> {
  const rows = await prisma.$queryRaw<{ id: string; state: CallState; operation: string; upstreamId: string | null }[]>`
    SELECT e.call_id::text AS id, e.state, e.operation,
      (SELECT o.upstream_id FROM outcome_item o WHERE o.intent_id = e.call_id AND o.upstream_ref = ${upstreamRef} LIMIT 1) AS "upstreamId"
    FROM indexed_call e WHERE e.terms @> ${[termOf(TAGS.ref, upstreamRef)]}::text[] AND e.call_id <> ${callId}::uuid
      AND ${ofAccount('e.client_id', account)}`;
  const changes = rows.filter(({ operation, state }) => CHANGED_BY.has(operation) && STATES[state].arrived);
  const makers = rows.filter(({ operation, upstreamId }) => CREATED_BY.has(operation) && upstreamId !== null);
  return {
    upstreamId: rows.find(({ upstreamId }) => upstreamId !== null)?.upstreamId ?? null,
    madeBy: makers[0]?.operation ?? null,
    others: changes.map(({ id }) => id),
  };
}
