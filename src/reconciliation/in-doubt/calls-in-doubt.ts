import { readDoubts } from '../../journal/settlement/false-rejections';
import { NewVerdict, VerdictTransaction } from '../../journal/settlement/settled-by-upstream';
import { NO_PROCESS } from '../../journal/stops/recovery-gap';
import { CHANGING_OPERATIONS } from '../../operations/items/effects';
import { entriesThat } from '../../operations/lifecycle/entries';
import { CallState, Present, recordedAs, stateAt } from '../../operations/lifecycle/lifecycle';
import { callsWith, RECORDED_STATE } from '../../operations/lifecycle/lifecycle-sql';
import { isPlainRejection, QuietPeriods } from '../../operations/lifecycle/rejections';
import { settlesItems } from '../../operations/lifecycle/settlement';
import { Status } from '../../operations/lifecycle/statuses';
import { batchesOf } from '../../platform/batches';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';

/** One item of a call. */
export interface ItemInDoubt {
  position: number;
  /** The canonical keys of all people whom the item names. Empty if they were erased. */
  names: string[];
  /** Six decimals, because equal amounts must be equal strings. */
  amountUsd: string | null;
  reference: string | null;
  /** Reference of the transaction to delete or redeem. */
  upstreamRef: string | null;
}

/** A call that may have been carried out. */
export interface SentCall {
  id: string;
  operation: string;
  items: ItemInDoubt[];
  /** Earliest time at which it can have reached the upstream. */
  sentFrom: Date;
  /** Time at which the proxy stopped waiting for the answer. */
  sentUntil: Date;
  /** Whether the upstream's answer is a plain rejection that is not doubted. It can still be false. */
  isRejected: boolean;
}

/** A transaction that could be a payout in doubt, but is not attributed to it. Its names are not masked. */
export type RelatedTransaction = VerdictTransaction;

/** The columns of `RelatedTransaction` except its position, of a row `t` of the book or of a reading. */
export const RELATED = Prisma.sql`t.read_id::text, coalesce(t.ordinal, 0)::float8 AS ordinal,
  t.upstream_ref, t.upstream_id, t.batch_ref, t.status, trim_scale(t.amount_usd)::text AS amount_usd,
  to_char(t.issued_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at`;

/** A transaction that was looked up. */
export interface ListedTransaction extends RelatedTransaction {
  /** Meaning of the status. Undefined if the status is missing or unknown. */
  meaning: Status | undefined;
  /** The canonical keys of the recipient's names. */
  names: string[];
}

/** Upstream data of the transaction that a call deletes or redeems. */
export interface Lookup {
  readId: string;
  requestedAt: Date;
  /** Our operation that created the transaction. Null if our records name none. */
  createdBy: string | null;
  /** Whether it was deleted or redeemed before the call was sent, by our records. */
  changedBefore: boolean;
  /** Null if the upstream has no such transaction. */
  transaction: ListedTransaction | null;
}

export interface Rules extends QuietPeriods {
  /** Maximum error of the upstream's clock. */
  skewMs: number;
}

/** The conclusion about a call in doubt. */
export type Verdict = Omit<NewVerdict, 'intentId'>;

/** A call and its recorded state. */
export interface SentCallState extends SentCall {
  /** The upstream account that it was sent to. */
  account: string;
  state: CallState;
  /** Whether an answer is on record. */
  hasAnswer: boolean;
  /** HTTP status of the upstream's answer, and failure code of the exchange. Null without one. */
  upstreamStatus: number | null;
  failure: string | null;
  /** The positions of payouts whose outcome is known. */
  settled: ReadonlySet<number>;
}

/** Maximum number of calls in doubt to consider. */
const MAX_CALLS_IN_DOUBT = 1_000_000;

/** Calls per query, because its result is processed without a pause. */
const CALLS_AT_ONCE = 1_000;

/**
 * Reads the IDs of calls that pay or write and may be in doubt, or have a payout in doubt, oldest first. The
 * search index must be up to date.
 */
export async function findCallsInDoubt(prisma: PrismaService): Promise<string[]> {
  const operations = CHANGING_OPERATIONS.map((operation) => `operation:${operation}`);
  const found = await prisma.$queryRaw<{ id: string }[]>`
    SELECT call_id::text AS id FROM indexed_call
    WHERE terms && ${[...recordedAs('unknown').map((state) => `state:${state}`), 'entry:in_doubt']}::text[]
      AND terms && ${operations}::text[] ORDER BY 1 LIMIT ${MAX_CALLS_IN_DOUBT}`;
  return found.map(({ id }) => id);
}

/**
 * Reads the calls in doubt among these, in the same order, each with the payouts that are in doubt.
 * @param longestMs the longest time that a request may take.
 */
export async function readCallsInDoubt(
  prisma: PrismaService,
  ids: string[],
  present: Present,
  longestMs: number,
): Promise<SentCallState[]> {
  const calls = await readSentCalls(prisma, ids, longestMs);
  const byId = new Map(calls.map((call) => [call.id, call]));
  return ids.flatMap((id) => {
    const call = byId.get(id);
    if (!call) return [];
    const items = call.items.filter(({ position }) => !call.settled.has(position));
    const isInDoubt = stateAt(call.state, { ...call, expiresAt: null }, present) === 'unknown';
    const hasDoubts = call.hasAnswer && settlesItems(call.operation) && items.length > 0;
    return isInDoubt || hasDoubts ? [{ ...call, items }] : [];
  });
}

type TimedCall = SentCallState & { process: number | null; releasedAt: Date };

/** Reads calls by their IDs. Calls that were never sent are left out. */
export async function readSentCalls(
  prisma: PrismaService,
  ids: string[],
  longestMs: number,
): Promise<TimedCall[]> {
  const calls: TimedCall[] = [];
  for (const batch of batchesOf(ids, CALLS_AT_ONCE)) {
    calls.push(...(await readSome(prisma, batch, longestMs)));
  }
  return calls;
}

/** The entries of payouts whose outcome is known. */
const KNOWN = entriesThat(({ known }) => known);

/** Items of the call `i` as JSON. In a collection, each name is of the other party. */
const ITEMS = Prisma.sql`coalesce((
  SELECT json_agg(json_build_object(
    'position', n.position, 'names', recipient_keys(r.email, r.phone, r.handle, n.receiver),
    'amountUsd', n.amount_usd::numeric(18,6)::text, 'reference', nullif(n.reference, ''),
    'upstreamRef', n.upstream_ref) ORDER BY n.position)
  FROM intent_item n LEFT JOIN item_recipient r ON r.intent_id = n.intent_id AND r.position = n.position
  WHERE n.intent_id = i.id), '[]')`;

async function readSome(prisma: PrismaService, ids: string[], longestMs: number): Promise<TimedCall[]> {
  const isDoubted = await readDoubts(prisma);
  const released = Prisma.sql`coalesce(d.decided_at, i.recorded_at)`;
  // The request arrived possibly long before, if the call or its approval was restored from a copy.
  const received = Prisma.sql`CASE WHEN coalesce(d.process, i.process) = ${NO_PROCESS}
    THEN (i.record::json ->> 'received_at')::timestamptz END`;
  const rows = await prisma.$queryRaw<(Omit<TimedCall, 'isRejected' | 'settled'> & { settled: number[] })[]>`
    SELECT i.id::text AS id,
      coalesce((SELECT account FROM client WHERE id = i.client_id), ${MAIN_ACCOUNT}) AS account,
      i.operation, ${RECORDED_STATE} AS state, coalesce(d.process, i.process) AS process,
      ${released} AS "releasedAt", coalesce(o.sent_at, ${received}, ${released}) AS "sentFrom",
      coalesce(o.answered_at, ${released} + make_interval(secs => ${longestMs / 1_000}::float))
        AS "sentUntil",
      o.intent_id IS NOT NULL AS "hasAnswer", o.record::json ->> 'failure' AS failure,
      o.upstream_status AS "upstreamStatus", ${ITEMS} AS items,
      ARRAY(SELECT pos FROM last_entries(i.id, o.record::json -> 'entries', i.item_count, NULL)
        WHERE entry = ANY (${KNOWN}::text[])) AS settled
    FROM ${callsWith(ids)}
    ORDER BY i.id`;
  return rows.map((call) => ({
    ...call,
    isRejected: isPlainRejection(call) && !isDoubted(call),
    settled: new Set(call.settled),
  }));
}
