import { Client } from 'pg';
import { catchUpIndex } from '../../../journal/lookups/search-index';
import { ofAccount } from '../../../journal/records/accounts';
import { CREATED_BY, CREATING } from '../../../operations/items/effects';
import { freesKey, STATES } from '../../../operations/lifecycle/lifecycle';
import { Prisma } from '../../../platform/database/generated/client';
import { PrismaService } from '../../../platform/database/pools/prisma.service';
import { uuidFloor } from '../../../platform/database/uuid';
import { Batch, Rules, SentCall, readSentCalls, SentCallState } from '../calls-in-doubt';
import { Timetable } from '../timetable';
import { Work } from '../work';
import { fit, timeOf } from './batch-match';
import { Batches } from './batches';
import { keysOfItem, keysOfTransaction, rarest } from './payments';

/** Maximum number of competing calls of a batch: the call in doubt, and the 100 that a verdict names. */
const MOST_NAMED = 101;

/**
 * Indexes competing calls: calls that could have created the same transactions as a call in doubt. They are
 * found by payment and time, because thousands of calls may have paid the same.
 */
export class CompetingCalls {
  private readonly byPayment = new Timetable<SentCall>();
  private readonly callsByBatch = new Map<Batch, SentCall[]>();
  private readonly explained = new Map<Batch, boolean>();
  private readonly unexplainedOf = new Map<readonly Batch[], Batch[]>();

  private constructor(private readonly rules: Rules) {}

  static *of(calls: Iterable<SentCall>, rules: Rules): Work<CompetingCalls> {
    const competing = new CompetingCalls(rules);
    for (const call of calls) {
      competing.add(call);
      yield call.items.length;
    }
    return competing;
  }

  /** Returns the first calls that a batch could be all of, or the part that is carried out and listed. */
  *callsOf(batch: Batch): Work<SentCall[]> {
    const known = this.callsByBatch.get(batch);
    if (known) return known;
    const found = yield* this.fitting(batch, Infinity, MOST_NAMED);
    this.callsByBatch.set(batch, found);
    return found;
  }

  /** Returns the batches that are not the complete result of one of our calls. */
  *unexplained(batches: readonly Batch[]): Work<readonly Batch[]> {
    const known = this.unexplainedOf.get(batches);
    if (known) return known;
    const found: Batch[] = [];
    for (const batch of batches) if (!(yield* this.explains(batch))) found.push(batch);
    this.unexplainedOf.set(batches, found);
    return found;
  }

  private *explains(batch: Batch): Work<boolean> {
    const known = this.explained.get(batch);
    yield 1;
    if (known !== undefined) return known;
    const isExplained = (yield* this.fitting(batch, batch.length, 1)).length > 0;
    this.explained.set(batch, isExplained);
    return isExplained;
  }

  private add(call: SentCall): void {
    const created = CREATED_BY.get(call.operation);
    if (!created) return;
    const place = { size: call.items.length, ...timeOf(call, this.rules) };
    const keys = new Set(call.items.flatMap((item) => keysOfItem(item, created)));
    for (const key of keys) this.byPayment.add(key, place, call);
  }

  /** Finds the first calls, with at most `most` items, that a batch could be all or part of. */
  private *fitting(batch: Batch, most: number, limit: number): Work<SentCall[]> {
    const found = new Set<SentCall>();
    const seen = rarest(batch, (key) => this.byPayment.count(key));
    yield batch.length;
    if (!seen || seen.issuedAt === null) return [];
    const at = seen.issuedAt.getTime();
    for (const key of new Set(keysOfTransaction(seen))) {
      const query = { least: batch.length, most, from: at, until: at };
      for (const call of this.byPayment.overlapping(key, query)) {
        if (!found.has(call) && (yield* this.fits(call, batch))) found.add(call);
        if (found.size === limit) return [...found];
      }
    }
    return [...found];
  }

  private *fits(call: SentCall, batch: Batch): Work<boolean> {
    const created = CREATED_BY.get(call.operation);
    return created !== undefined && (yield* fit(call, created, batch, this.rules)) !== undefined;
  }
}

const BY_REFERENCE = CREATING.filter((operation) => CREATED_BY.get(operation)?.incoming === true);

/** An ID is made before its call is sent, and clocks differ. */
const ID_MARGIN_MS = 3_600_000;

/** Selects competing calls. */
interface CompetingQuery {
  account: string;
  /** Earliest time of record. Earlier calls cannot have created a listed transaction. */
  from: Date;
  /** Longest duration of a request, in ms. */
  longestMs: number;
  rules: Rules;
  signal: AbortSignal;
}

/**
 * Reads the calls that compete with the calls in doubt: they pay the same recipient a listed amount at a
 * listed time. Includes rejected calls, unless the gateway refused them, because a rejection may be wrong.
 * Includes succeeded calls, because they may have been carried out twice. Also includes the calls in doubt
 * themselves, and calls sent while the listing was read.
 * @throws DatabaseTooSlow if the search index cannot catch up soon.
 */
export async function readCompeting(
  db: Client,
  prisma: PrismaService,
  inDoubt: string[],
  unclaimed: Batches,
  query: CompetingQuery,
): Promise<SentCallState[]> {
  if (inDoubt.length === 0 || unclaimed.earliest > unclaimed.latest) return [];
  // After the listing was read. A call that is not indexed yet may explain its transactions.
  await catchUpIndex(prisma);
  const { rows } = await db.query<{ id: string }>(selectCompeting(inDoubt, unclaimed, query));
  const ids = rows.map(({ id }) => id);
  const calls = await readSentCalls(prisma, ids, query.longestMs, query.signal);
  return calls.filter(mayHaveBeenCarriedOut);
}

/**
 * Returns whether a call may have been carried out. A call that the gateway refused is sent again with the
 * same key, and must not leave the second attempt in doubt.
 */
function mayHaveBeenCarriedOut({ state, upstreamStatus }: SentCallState): boolean {
  return STATES[state].arrived && !(state === 'rejected' && freesKey(state, upstreamStatus));
}

/** Names of the recipient of the payout `n` with the person `r`, in the form of the search index. */
const NAMES = Prisma.sql`
  SELECT tag, spelling FROM (VALUES
    ('to', recipient_key('email', r.email)),
    ('to', recipient_key('phone', r.phone)),
    ('to', recipient_key('handle', r.handle)),
    ('receiver', n.receiver)) AS names(tag, spelling)
  WHERE spelling IS NOT NULL`;

function selectCompeting(
  inDoubt: string[],
  unclaimed: Batches,
  { account, from, longestMs, rules }: CompetingQuery,
): Prisma.Sql {
  const earliest = new Date(unclaimed.earliest - rules.quietMs - rules.skewMs);
  const latest = new Date(unclaimed.latest + rules.skewMs);
  const [first, last] = [uuidFloor(from), uuidFloor(new Date(latest.getTime() + ID_MARGIN_MS))];
  return Prisma.sql`
    WITH payee AS MATERIALIZED (
      SELECT DISTINCT name.* FROM unnest(${inDoubt}::uuid[]) AS doubt(id)
      CROSS JOIN LATERAL (SELECT * FROM intent_item WHERE intent_id = doubt.id OFFSET 0) AS n
      LEFT JOIN LATERAL (SELECT * FROM item_recipient WHERE intent_id = doubt.id OFFSET 0) AS r
        ON r.position = n.position
      CROSS JOIN LATERAL (${NAMES}) AS name
    ), named AS MATERIALIZED (
      SELECT call_id FROM indexed_call
      WHERE terms && ARRAY(SELECT search_term(tag, spelling) FROM payee)
        AND call_id >= ${first}::uuid AND call_id < ${last}::uuid
        AND ${ofAccount('client_id', account)}
    ), paid AS (
      SELECT DISTINCT c.call_id, n.amount_usd FROM named c
      CROSS JOIN LATERAL (SELECT * FROM intent_item WHERE intent_id = c.call_id OFFSET 0) AS n
      LEFT JOIN LATERAL (SELECT * FROM item_recipient WHERE intent_id = c.call_id OFFSET 0) AS r
        ON r.position = n.position
      CROSS JOIN LATERAL (${NAMES}) AS name
      JOIN payee p ON p.tag = name.tag AND p.spelling = name.spelling
    )
    -- OFFSET 0 makes the planner look up each call by its key, instead of joining all calls with all.
    SELECT DISTINCT c.id::text AS id FROM paid CROSS JOIN LATERAL (
      SELECT i.id FROM intent i
      LEFT JOIN outcome o ON o.intent_id = paid.call_id LEFT JOIN decision d ON d.intent_id = paid.call_id
      WHERE i.id = paid.call_id AND i.operation = ANY (${CREATING}::text[])
        AND (paid.amount_usd = ANY (${[...unclaimed.amounts]}::numeric[])
          OR i.operation = ANY (${BY_REFERENCE}::text[]))
        AND coalesce(o.sent_at, d.decided_at, i.recorded_at) <= ${latest}::timestamptz
        AND coalesce(
          o.answered_at,
          coalesce(d.decided_at, i.recorded_at) + ${`${longestMs} milliseconds`}::interval
        ) >= ${earliest}::timestamptz
      OFFSET 0
    ) AS c
    ORDER BY 1`;
}
