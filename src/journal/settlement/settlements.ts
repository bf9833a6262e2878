import { Decimal } from 'decimal.js';
import { Resolution, STATES } from '../../operations/lifecycle/lifecycle';
import { countedOf, ENTRIES, resolutionOf } from '../../operations/lifecycle/settlement';
import { Timeouts } from '../../platform/config/upstream/upstream-timeouts';
import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { newSalt } from '../../platform/privacy/commitment';
import { lockClients } from '../admission/admissions';
import { stampedSql } from '../records/document-sql';
import { IntentDocument, writeOutcome, writeSettlement } from '../records/documents';
import { NewEntry, NewOutcome, NewSettlement, RecordedEntry } from '../records/records';
import { isKeyed, keepKeys } from './double-payments';
import { alarmIfFalselyRejected } from './false-rejections';
import { feeAfter, LedgerItem, namesTransaction } from './ledger';
import { readSettledCalls, SettledCall } from './settled-call';

/** Result of a settlement. Of two concurrent ones, the first wins and the other is overtaken. */
export type SettleResult = 'written' | 'nothing' | 'overtaken';

/** Returns the settlement of a call from its current records. Undefined settles nothing. */
export type Decide = (call: SettledCall) => NewSettlement | undefined;

/** Maximum number of payouts that a transaction settles. A call is settled as a whole. */
export const PAYOUTS_AT_ONCE = 200;

/** Attempts if other settlements overtake this one. */
const ATTEMPTS = 3;

/**
 * Settles payouts of a call. A later settlement supersedes an earlier one, and none is changed.
 * See docs/internals/decisions/upstream/0024-resolutions-are-superseded.md.
 * @returns `overtaken` only if every attempt was overtaken.
 */
export async function settle(
  prisma: PrismaService,
  callId: string,
  timeouts: Timeouts,
  decide: Decide,
): Promise<SettleResult> {
  for (let attempt = 1; ; attempt += 1) {
    const settled = await prisma.$transaction((tx) => settleWithin(tx, callId, timeouts, decide));
    if (settled !== 'overtaken' || attempt === ATTEMPTS) return settled;
  }
}

/** Settles payouts of a call within a transaction, in one attempt. */
export async function settleWithin(
  tx: Prisma.TransactionClient,
  callId: string,
  timeouts: Timeouts,
  decide: Decide,
): Promise<SettleResult> {
  const results = await settleAllWithin(tx, [callId], timeouts, decide);
  return results.get(callId) ?? 'nothing';
}

/**
 * Settles payouts of calls within a transaction, in one attempt.
 * @returns the result of each call that exists.
 */
export async function settleAllWithin(
  tx: Prisma.TransactionClient,
  callIds: string[],
  timeouts: Timeouts,
  decide: Decide,
): Promise<Map<string, SettleResult>> {
  const calls = await readSettledCalls(tx, callIds, timeouts);
  const results = new Map<string, SettleResult>(calls.map(({ intent }) => [intent.id, 'nothing']));
  const drafts = calls.flatMap((call) => {
    const settlement = decide(call);
    return settlement ? [toDraft(call, settlement)] : [];
  });
  const awaited = drafts
    .map(({ call }) => call)
    .filter(({ outcome, state }) => !outcome && state !== 'refused');
  const abandoned = await abandon(
    tx,
    awaited.map(({ intent }) => intent),
  );
  const answered = new Set(awaited.flatMap(({ intent }) => (abandoned.has(intent.id) ? [] : [intent.id])));
  const written = await write(
    tx,
    drafts.filter(({ call }) => !answered.has(call.intent.id)),
  );
  for (const { call } of drafts) {
    results.set(call.intent.id, written.has(call.intent.id) ? 'written' : 'overtaken');
  }
  return results;
}

/**
 * Records that the answers of calls are no longer awaited. A late answer finds this outcome and becomes a
 * settlement. Without this outcome, a concurrent answer would commit next to a settlement that ignores it.
 * @returns the IDs of the calls whose answers were not first.
 */
export async function abandon(
  tx: Prisma.TransactionClient,
  intents: Pick<IntentDocument, 'id' | 'received_at' | 'recorded_at' | 'recovered'>[],
): Promise<ReadonlySet<string>> {
  if (intents.length === 0) return new Set();
  const now = clock.now();
  const rows = intents.map(({ id, recovered, received_at, recorded_at }) => {
    const sentAt = new Date(recovered ? received_at : recorded_at); // The earliest time.
    const outcome: NewOutcome = { ...ABANDONED, intentId: id, sentAt, answeredAt: now };
    return { id, sent_at: sentAt, record: writeOutcome(outcome, newSalt()) };
  });
  const written = await tx.$queryRaw<{ id: string }[]>`
    INSERT INTO outcome (intent_id, kind, upstream_ms, sent_at, answered_at, recorded_at, record)
    SELECT id, 'unknown', 0, sent_at, ${now}::timestamptz, now, ${Prisma.raw(stampedSql('record', 'now'))}
    FROM (
      SELECT *, clock_timestamp() AS now
      FROM json_to_recordset(${JSON.stringify(rows)}::json) AS t(id uuid, sent_at timestamptz, record text)
    ) AS written
    ON CONFLICT DO NOTHING RETURNING intent_id::text AS id`;
  return new Set(written.map(({ id }) => id));
}

/** The outcome of a call whose answer is no longer awaited. */
const ABANDONED: Omit<NewOutcome, 'intentId' | 'sentAt' | 'answeredAt'> = {
  kind: 'unknown',
  failure: 'abandoned',
  upstreamStatus: null,
  contentType: null,
  retryAfter: null,
  body: null,
  items: [],
  upstreamMs: 0,
  answerOf: null,
  attempts: 0,
  tries: [],
};

/** A settlement to write, with what follows from it. */
interface Draft {
  call: SettledCall;
  settlement: NewSettlement;
  entries: RecordedEntry[];
  /** The payouts after it. */
  after: LedgerItem[];
  resolution: Resolution | null;
  countedUsd: Decimal;
}

function toDraft(call: SettledCall, settlement: NewSettlement): Draft {
  const { intent, outcome, items } = call;
  const entries = settlement.entries.flatMap((entry) => toRecorded(entry, items[entry.position]));
  const after = itemsAfter(items, entries);
  const kind = outcome?.kind ?? (call.state === 'refused' ? 'not_sent' : 'unknown');
  const last = after.map(({ entry }) => entry);
  const resolution = settlement.resolution ?? (items.length > 0 ? resolutionOf(kind, last) : null);
  const total = new Decimal(intent.total_usd ?? 0);
  const countedUsd =
    items.length > 0 ? countedOf(after) : resolution === 'not_executed' ? new Decimal(0) : total;
  return { call, settlement, entries, after, resolution, countedUsd };
}

/** Returns whether a call may turn out to be paid: a call in doubt, or one whose payouts failed before. */
function turnsOutPaid({ call, resolution, countedUsd }: Draft): boolean {
  if (resolution) return STATES[resolution].executed === 'yes';
  return call.outcome?.kind === 'succeeded' && call.countedUsd?.isZero() === true && !countedUsd.isZero();
}

/** @returns the IDs of the settled calls. Others were settled meanwhile. */
async function write(tx: Prisma.TransactionClient, drafts: Draft[]): Promise<ReadonlySet<string>> {
  if (drafts.length === 0) return new Set();
  const keyed = drafts
    .filter(turnsOutPaid)
    .map(({ call }) => call.intent)
    .filter(isKeyed);
  // An admission may take a key over. It locks the client first too, against deadlocks.
  if (keyed.length > 0) await lockClients(tx, [...new Set(keyed.map(({ client_id: id }) => id))]);
  const written = await insert(tx, drafts);
  const settled = drafts.filter(({ call }) => written.has(call.intent.id));
  await tx.$executeRaw`SELECT adjust_spending(${settled.map(({ call }) => call.intent.id)}::uuid[],
    ${settled.map(({ call }) => call.countedUsd?.toFixed() ?? null)}::numeric[],
    ${settled.map(({ countedUsd }) => countedUsd.toFixed())}::numeric[])`;
  await keepKeys(
    tx,
    keyed.filter(({ id }) => written.has(id)),
  );
  for (const { call, resolution, after } of settled) {
    await alarmIfFalselyRejected(tx, { ...call, resolution, items: after });
  }
  return written;
}

async function insert(tx: Prisma.TransactionClient, drafts: Draft[]): Promise<ReadonlySet<string>> {
  const rows = drafts.map(({ call, settlement, entries, resolution, countedUsd }) => {
    const [id, number] = [newId(), call.number + 1];
    const record = writeSettlement({
      ...settlement,
      id,
      number,
      supersedes: call.version,
      entries,
      countedUsd,
      ...(resolution && { resolution }),
    });
    const counted = countedUsd.toFixed();
    return { id, intent_id: call.intent.id, number, resolution, counted_usd: counted, record };
  });
  const written = await tx.$queryRaw<{ id: string }[]>`
    INSERT INTO settlement (id, intent_id, number, resolution, counted_usd, recorded_at, record)
    SELECT id, intent_id, number, resolution, counted_usd, now, ${Prisma.raw(stampedSql('record', 'now'))}
    FROM (
      SELECT *, clock_timestamp() AS now FROM json_to_recordset(${JSON.stringify(rows)}::json) AS t(
        id uuid, intent_id uuid, number integer, resolution text, counted_usd numeric, record text)
    ) AS written
    ON CONFLICT DO NOTHING RETURNING intent_id::text AS id`;
  return new Set(written.map(({ id }) => id));
}

/** Completes an entry with its accounts. Drops an entry without an item. */
function toRecorded(entry: NewEntry, item: LedgerItem | undefined): RecordedEntry[] {
  if (!item) return [];
  const { amountUsd = item.amountUsd } = entry;
  if (entry.entry === 'fee') return [toFee(entry, amountUsd ?? new Decimal(0))];
  return [{ ...entry, amountUsd, from: ENTRIES[item.entry].account, to: ENTRIES[entry.entry].account }];
}

/** A negative fee is a refund. */
function toFee(entry: NewEntry, usd: Decimal): RecordedEntry {
  const amountUsd = usd.abs();
  return usd.isNegative()
    ? { ...entry, amountUsd, from: 'fees', to: 'available' }
    : { ...entry, amountUsd, from: 'available', to: 'fees' };
}

function itemsAfter(items: LedgerItem[], entries: RecordedEntry[]): LedgerItem[] {
  const after = items.map((item) => ({ ...item }));
  for (const { position, entry, amountUsd, to, transaction } of entries) {
    const item = after[position] as LedgerItem;
    if (entry === 'fee' || namesTransaction(transaction)) item.expectedFeeUsd = new Decimal(0);
    if (entry === 'fee') item.feeUsd = feeAfter(item.feeUsd, to, amountUsd);
    else item.entry = entry;
  }
  return after;
}
