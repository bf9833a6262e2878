import { isOwn, CallOwner, Owner } from '../../access/auth/owner';
import { readPayoutId } from '../../operations/catalogue/payout-id';
import { TransactionId } from '../../operations/catalogue/row';
import { RECOGNIZED_BY_OUR_ID, CREATING } from '../../operations/items/effects';
import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { uuidFloor } from '../../platform/database/uuid';
import { ofSameAccount } from '../records/accounts';
import { catchUpIndex } from './search-index';
import { TAGS, termOf } from './search-terms';

/** The known IDs of a transaction. */
export type TransactionIds = Partial<Record<TransactionId, string | null>>;

/** IDs per statement. Each is a lookup in the index. */
const IDS_AT_ONCE = 500;

/** Above this age, the follow-up has named every transaction of a call. */
const UNNAMED_FOR_MS = 7 * 86_400_000;

const CALL_OWNER = Prisma.sql`i.client_id::text AS "clientId", i.person_id::text AS "personId"`;

/**
 * Finds the owners of transactions in the book. A transaction belongs to the call of its payout. A call that
 * only names it in its request, such as a redemption, does not own it. Several calls may share a batch.
 */
export class TransactionOwners {
  private readonly owners = new Map<string, CallOwner[]>();

  private constructor(
    private readonly owner: Owner,
    private readonly ids: ReadonlySet<string>,
  ) {}

  /**
   * Reads the owners of the transactions or batches with these IDs in the owner's account.
   * @throws DatabaseTooSlow if the search index lacks records, because it is being rebuilt.
   */
  static async read(
    prisma: Prisma.TransactionClient,
    owner: Owner,
    ids: string[],
  ): Promise<TransactionOwners> {
    await catchUpIndex(prisma);
    const found = new TransactionOwners(owner, new Set(ids));
    for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
      for (const row of await readOwners(prisma, owner, ids.slice(at, at + IDS_AT_ONCE))) found.add(row);
    }
    return found;
  }

  /** Returns whether the owner made the transaction. False for a transaction without a known owner. */
  isOwn(ids: TransactionIds): boolean {
    return this.ownersOf(ids).some((one) => isOwn(one, this.owner));
  }

  /** Returns whether only others made the transaction. */
  isForeign(ids: TransactionIds): boolean {
    return this.ownersOf(ids).length > 0 && !this.isOwn(ids);
  }

  private ownersOf(ids: TransactionIds): CallOwner[] {
    return Object.entries(ids).flatMap(([kind, id]) => {
      const owners = this.owners.get(`${kind} ${id}`) ?? [];
      return kind === 'batchRef' ? owners : owners.slice(0, 1);
    });
  }

  private add({ clientId, personId, ...ids }: TransactionRow): void {
    for (const [kind, id] of Object.entries(ids)) {
      if (id === null || !this.ids.has(id)) continue; // Its other owners are not known.
      const known = this.owners.get(`${kind} ${id}`) ?? [];
      this.owners.set(`${kind} ${id}`, [...known, { clientId, personId }]);
    }
  }
}

/** Returns the references that the proxy wrote into requests of the owner. The upstream's list shows them. */
export async function readOwnReferences(
  prisma: Prisma.TransactionClient,
  owner: Owner,
  references: string[],
): Promise<Set<string>> {
  const callOf = (reference: string) => readPayoutId(reference)?.callId;
  const ids = new Set(references.flatMap((reference) => callOf(reference) ?? []));
  if (ids.size === 0) return new Set();
  const rows = await prisma.$queryRaw<(CallOwner & { id: string })[]>`
    SELECT i.id::text, ${CALL_OWNER}
    FROM intent i WHERE i.id = ANY (${[...ids]}::uuid[]) AND i.operation = ANY (${CREATING}::text[])`;
  const own = new Set(rows.filter((row) => isOwn(row, owner)).map(({ id }) => id));
  return new Set(references.filter((reference) => own.has(callOf(reference) ?? '')));
}

/**
 * Returns whether a recent request of the owner has transactions that no record names. Only the upstream's
 * list then shows their owner.
 */
export async function hasUnnamedTransactions(
  prisma: Prisma.TransactionClient,
  { clientId }: Owner,
): Promise<boolean> {
  const from = uuidFloor(new Date(clock.nowMs() - UNNAMED_FOR_MS));
  const [row] = await prisma.$queryRaw<{ found: boolean }[]>`
    SELECT EXISTS (SELECT FROM indexed_call
      WHERE terms @> ${[`client:${clientId}`]}::text[]
        AND terms && ${RECOGNIZED_BY_OUR_ID.map((name) => `operation:${name}`)}::text[]
        AND terms && ARRAY(SELECT 'week:' || week
          FROM generate_series(search_week(${from}::uuid), search_week(${from}::uuid) + 2) AS week)
        AND call_id >= ${from}::uuid AND state IN ('succeeded', 'confirmed', 'unknown', 'in_progress')
        AND array_to_string(payouts, '') !~ E'\nref:') AS found`;
  return row?.found ?? false;
}

type TransactionRow = CallOwner & Record<TransactionId, string | null>;

/**
 * The book finds calls by the names of their transactions, and the search index by those of batches. The
 * book then has the transactions of each. The two statements are separate, because a planner that cannot
 * estimate the number of calls would read the whole book.
 */
async function readOwners(
  prisma: Prisma.TransactionClient,
  { clientId }: Owner,
  ids: string[],
): Promise<TransactionRow[]> {
  const terms = ids.map((id) => termOf(TAGS.ref, id));
  const found = await prisma.$queryRaw<{ id: string }[]>`
    SELECT DISTINCT e.call_id::text AS id FROM unnest(${terms}::text[]) AS wanted(term) CROSS JOIN LATERAL (
      SELECT call_id FROM indexed_call
      WHERE terms @> ARRAY[wanted.term] AND operation = ANY (${CREATING}::text[])
        AND ${ofSameAccount('client_id', clientId)}
    ) AS e
    UNION
    SELECT coalesce(b.call_id, b.answered_call)::text
    FROM client c CROSS JOIN unnest(${ids}::text[]) AS wanted(name)
    CROSS JOIN LATERAL transactions_named(c.account, wanted.name) AS b
    WHERE c.id = ${clientId}::uuid AND coalesce(b.call_id, b.answered_call) IS NOT NULL`;
  const calls = found.map(({ id }) => id);
  if (calls.length === 0) return [];
  return prisma.$queryRaw<TransactionRow[]>`
    SELECT ${CALL_OWNER}, b.upstream_ref AS "upstreamRef", b.upstream_id AS "upstreamId",
      b.batch_ref AS "batchRef"
    FROM (
      SELECT call_id AS maker, * FROM book_transaction WHERE call_id = ANY (${calls}::uuid[])
      UNION ALL
      SELECT answered_call, * FROM book_transaction
      WHERE call_id IS NULL AND answered_call = ANY (${calls}::uuid[])
    ) AS b JOIN intent i ON i.id = b.maker AND i.id = ANY (${calls}::uuid[])
      AND i.operation = ANY (${CREATING}::text[])
    WHERE ARRAY[b.upstream_ref, b.upstream_id, b.batch_ref] && ${ids}::text[]
      -- An error proves no owner until the upstream lists its transaction.
      AND (b.ground <> 'error' OR b.read_id IS NOT NULL
        OR EXISTS (SELECT FROM settlement s WHERE s.intent_id = i.id AND s.resolution = 'confirmed')
        OR EXISTS (SELECT FROM outcome o WHERE o.intent_id = i.id AND o.kind = 'succeeded'))
    ORDER BY i.id`;
}
