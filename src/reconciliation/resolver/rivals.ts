import { PrismaService } from '../../database/prisma.service';
import { uuidFloor } from '../../database/uuid';
import { CHANGED, MADE } from './made';
import { readSent, SentCall } from './sent';

/** Calls of which the upstream has seen, or may have seen, something. */
const MAY_HAVE_ARRIVED: ReadonlySet<string> = new Set(['succeeded', 'rejected', 'unknown', 'sent', 'landed', 'absent']);

/**
 * Other calls that pay somebody whom a call in doubt pays: what it could have made, they could have made. One
 * that the upstream rejected is among them, as that may be a lie, and one that succeeded, as it may have been carried out twice.
 * @param since calls that were recorded before this cannot have made anything that is of interest.
 */
export async function readRivals(
  prisma: PrismaService,
  doubts: string[],
  since: Date,
  longestMs: number,
): Promise<Map<string, SentCall[]>> {
  const first = uuidFloor(since);
  const pairs = await prisma.$queryRaw<{ doubt: string; rival: string }[]>`
    SELECT DISTINCT n.intent_id::text AS doubt, other.intent_id::text AS rival
    FROM intent_item n LEFT JOIN item_recipient r ON r.intent_id = n.intent_id AND r.position = n.position
    CROSS JOIN LATERAL (
      SELECT intent_id FROM item_recipient WHERE phone = r.phone AND intent_id >= ${first}::uuid
      UNION SELECT intent_id FROM item_recipient WHERE lower(email) = lower(r.email) AND intent_id >= ${first}::uuid
      UNION SELECT intent_id FROM item_recipient
        WHERE lower(handle) IN (lower(ltrim(r.handle, '@')), '@' || lower(ltrim(r.handle, '@'))) AND intent_id >= ${first}::uuid
      UNION SELECT intent_id FROM intent_item WHERE receiver = n.receiver AND intent_id >= ${first}::uuid
    ) AS other
    WHERE n.intent_id = ANY (${doubts}::uuid[]) AND other.intent_id <> n.intent_id`;
  const calls = await readSent(prisma, [...new Set(pairs.map(({ rival }) => rival))], longestMs);
  const byId = new Map(calls.filter(({ state }) => MAY_HAVE_ARRIVED.has(state)).map((call) => [call.id, call]));
  const rivals = new Map(doubts.map((id): [string, SentCall[]] => [id, []]));
  for (const { doubt, rival } of pairs) {
    const call = byId.get(rival);
    if (call) rivals.get(doubt)?.push(call);
  }
  return rivals;
}

/** What our records know of a transaction that a call deletes or redeems. */
export interface Named {
  upstreamId: string | null;
  /** The operation that made it; null if that was none of ours. */
  madeBy: string | null;
  /** Other calls that delete or redeem it. */
  others: string[];
}

/** What our records know of the transaction that a call deletes or redeems. The search index must be up to date. */
export async function readNamed(
  prisma: PrismaService,
  doubt: string,
  chiRef: string,
): Promise<Named> {
  const rows = await prisma.$queryRaw<{ id: string; state: string; operation: string; upstreamId: string | null }[]>`
    SELECT DISTINCT e.call_id::text AS id, e.state, e.operation,
      (SELECT o.upstream_id FROM outcome_item o WHERE o.intent_id = e.call_id AND o.chi_ref = ${chiRef} LIMIT 1) AS "upstreamId"
    FROM search_entry e WHERE e.terms @> ARRAY[search_term('ref', ${chiRef}::text)] AND e.call_id <> ${doubt}::uuid`;
  const changes = rows.filter(({ operation, state }) => CHANGED.has(operation) && MAY_HAVE_ARRIVED.has(state));
  const makers = rows.filter(({ operation, upstreamId }) => MADE.has(operation) && upstreamId !== null);
  return {
    upstreamId: rows.find(({ upstreamId }) => upstreamId !== null)?.upstreamId ?? null,
    madeBy: makers[0]?.operation ?? null,
    others: changes.map(({ id }) => id),
  };
}
