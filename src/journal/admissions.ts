import { Decimal } from 'decimal.js';
import { Prisma } from '../platform/database/generated/client';
import { DatabaseTooSlow } from '../platform/database/patience';
import { PrismaService } from '../platform/database/prisma.service';
import { AdmissionRequest, decide, Opened, Ruling, State } from '../policy/admission';
import { HeldFor } from '../policy/holds';
import { RecipientDays } from '../policy/recipient-days';
import { commitment, newSalt } from './commitment';
import { contentKey, paymentKeys } from './content-keys';
import { Clearance, insertDecided, insertIntentsIfClear } from './intents';
import { NewIntent, OpenIntent } from './records';
import { insertRecipientPayments } from './recipient-payments';
import { earlier, Release, releaseNow } from './release';
import { GuardWindows, guardsOf } from './guard-windows';
import { Budgeted, readState } from './state';

/** The transaction holds locks. If it takes longer, the database is lost or the process is frozen. */
const TRANSACTION_LIMITS = { maxWait: 5_000, timeout: 10_000 };

/** A number that nothing else in the database locks. The guard across clients handles one admission at a time. */
const ACROSS_CLIENTS_LOCK = 7_070_002;

/** A request, and the intent to record if it is admitted or held. */
export interface Admission {
  request: AdmissionRequest;
  intent: NewIntent;
}

/** The decision about a call. `released` means that it is to be sent now. */
export type AdmissionResult =
  | Exclude<Ruling, { kind: 'admitted' }>
  | { kind: 'released'; release: Release }
  /** The key is no longer valid, or the rights of its client have changed since it was looked up. */
  | { kind: 'caller_changed' };

/**
 * Decides about calls and opens those that may be sent: claims, reservations and intents in one commit. Locks the rows
 * of their clients first, always in the same order. Everything read after that holds until the commit, on every
 * instance.
 */
export async function admit(
  prisma: PrismaService,
  process: number,
  admissions: Admission[],
  windows: GuardWindows,
  again: boolean,
): Promise<AdmissionResult[]> {
  const clear = again ? undefined : await admitClear(prisma, process, admissions, windows);
  return clear ?? admitAfterLookup(prisma, process, admissions, windows, again);
}

/**
 * Opens calls without obstacles, as almost all are. One statement checks that and writes them under the same locks,
 * which saves a transaction that reads first. @returns undefined if there may be an obstacle for one of them.
 */
async function admitClear(
  prisma: PrismaService,
  process: number,
  admissions: Admission[],
  windows: GuardWindows,
): Promise<AdmissionResult[] | undefined> {
  if (windows.acrossClientsSeconds > 0 || admissions.some(({ request }) => request.payments)) return undefined;
  const rulings = decide(admissions.map(requestOf), nothingKnown(windows));
  if (!rulings.every(isOpen)) return undefined;
  const today = new Date().toISOString().slice(0, 10);
  const opened = toOpened(admissions, rulings, { today, process, windows });
  const clearance = toClearance(admissions, opened, today);
  const release = releaseNow();
  const written = await insertIntentsIfClear(prisma, opened, clearance);
  return written ? rulings.map((ruling) => toResult(ruling, release)) : undefined;
}

async function admitAfterLookup(
  prisma: PrismaService,
  process: number,
  admissions: Admission[],
  windows: GuardWindows,
  again: boolean,
): Promise<AdmissionResult[]> {
  return prisma.$transaction(async (tx) => {
    if (windows.acrossClientsSeconds > 0) await tx.$executeRaw`SELECT pg_advisory_xact_lock(${ACROSS_CLIENTS_LOCK})`;
    const clients = await lockClients(tx, [...new Set(admissions.map(({ request }) => request.clientId))]);
    const before = again ? await decidedBefore(tx, admissions, windows) : undefined; // an unconfirmed commit has held the lock until now
    if (before) return [before];
    if (!(await noneRefused(tx, admissions))) throw new DatabaseTooSlow();
    const changed = await readChangedKeys(tx, admissions);
    const current = admissions.filter(({ intent }) => !changed.has(intent.caller.keyId));
    const { state, today } = await readState(tx, current.map(requestOf), clients, windows);
    const rulings = decide(current.map(requestOf), state);
    const opened = toOpened(current, rulings, { today, process, windows });
    const release = releaseNow();
    if (opened.length > 0) await insertDecided(tx, opened);
    const { approvableForMs } = windows;
    await insertRecipientPayments(tx, current.map(requestOf), opened, state.budgets, { today, approvableForMs });
    const results = new Map(rulings.map((ruling, place) => [current[place], toResult(ruling, release)]));
    return admissions.map((admission) => results.get(admission) ?? { kind: 'caller_changed' });
  }, TRANSACTION_LIMITS);
}

/** Returns the keys that are no longer valid, or whose client has changed since they were looked up. */
async function readChangedKeys(tx: Prisma.TransactionClient, admissions: Admission[]): Promise<Set<string>> {
  const { keys, rights } = callersOf(admissions);
  const rows = await tx.$queryRaw<{ key: string }[]>`
    -- prepared as changed_keys
    SELECT changed_keys(${keys}::uuid[], ${rights}::text[])::text AS key`;
  return new Set(rows.map(({ key }) => key));
}

/** Returns each key once for each of its versions. */
function callersOf(admissions: Admission[]): Pick<Clearance, 'keys' | 'rights'> {
  const callers = new Map(admissions.map(({ intent: { caller } }) => [`${caller.keyId} ${caller.rights}`, caller]));
  const distinct = [...callers.values()];
  return { keys: distinct.map(({ keyId }) => keyId), rights: distinct.map(({ rights }) => rights) };
}

/** The state without other calls, stops or caps. */
function nothingKnown(windows: GuardWindows): State {
  return {
    claims: new Map(),
    sameContent: new Map(),
    seenAcrossClients: new Set(),
    recipients: new RecipientDays(),
    stops: [],
    budgets: new Map(),
    guards: guardsOf(windows),
  };
}

function toClearance(admissions: Admission[], opened: OpenIntent[], day: string): Clearance {
  const usd = new Map<string, Decimal | null>();
  for (const { request } of admissions) {
    const before = usd.get(request.clientId) ?? null;
    // Held calls count too. A call over a cap is refused instead of held.
    usd.set(request.clientId, request.usd === null ? before : request.usd.plus(before ?? 0));
  }
  return {
    clients: [...usd.keys()],
    usd: [...usd.values()].map((sum) => sum?.toFixed() ?? null),
    ...callersOf(admissions),
    day,
    contents: opened.map(({ contents = [] }) => contents[0] ?? null),
  };
}

/**
 * Locks clients. Everyone who spends locks first, and reads in later statements. A statement that began before it got
 * the lock would miss commits.
 */
export async function lockClients(tx: Prisma.TransactionClient, ids: string[]): Promise<Budgeted[]> {
  return tx.$queryRaw<Budgeted[]>`
    -- prepared as lock_clients
    SELECT id::text, daily_cap_usd AS "dailyCapUsd", monthly_cap_usd AS "monthlyCapUsd",
      max_recipient_day_usd AS "maxRecipientDayUsd", approval_over_recipient_day_usd AS "approvalOverRecipientDayUsd",
      approval_over_day_usd AS "approvalOverDayUsd", hold_duplicates_days AS "holdDuplicatesDays"
    FROM client
    WHERE id = ANY (${ids}::uuid[]) ORDER BY id FOR NO KEY UPDATE`;
}

/**
 * Returns the decision about a call whose commit was reported as failed. Undefined if the commit did fail.
 * @throws Error if the call may not be sent any more. It may have been settled, and its app may have paid again.
 */
async function decidedBefore(
  tx: Prisma.TransactionClient,
  [admission]: Admission[],
  { sendableForMs }: GuardWindows,
): Promise<AdmissionResult | undefined> {
  const readAt = releaseNow();
  const [row] = await tx.$queryRaw<{ heldFor: HeldFor | null; ageMs: number; settled: boolean }[]>`
    SELECT held_for AS "heldFor", extract(epoch FROM clock_timestamp() - recorded_at)::float * 1000 AS "ageMs",
      EXISTS (SELECT FROM outcome o WHERE o.intent_id = i.id) OR EXISTS (SELECT FROM settlement s WHERE s.intent_id = i.id)
        OR EXISTS (SELECT FROM refusal r WHERE r.id = i.id) AS settled
    FROM intent i WHERE id = ${admission?.request.id}::uuid`;
  if (!row) return undefined;
  if (row.heldFor) return { kind: 'held', heldFor: row.heldFor };
  if (row.settled || row.ageMs > sendableForMs)
    throw new Error('the call was admitted too long ago, or was settled since');
  return { kind: 'released', release: earlier(readAt, row.ageMs) };
}

function toResult(ruling: Ruling, release: Release): AdmissionResult {
  return ruling.kind === 'admitted' ? { kind: 'released', release } : ruling;
}

/** Returns whether none of these calls was refused during its admission. Their clients must be locked. */
async function noneRefused(tx: Prisma.TransactionClient, admissions: Admission[]): Promise<boolean> {
  const [row] = await tx.$queryRaw<{ none: boolean }[]>`
    -- prepared as none_refused
    SELECT none_refused(${admissions.map(({ request }) => request.id)}::uuid[]) AS none`;
  return row?.none === true;
}

function isOpen(ruling: Ruling | undefined): ruling is Opened {
  return ruling?.kind === 'admitted' || ruling?.kind === 'held';
}

function requestOf({ request }: Admission): AdmissionRequest {
  return request;
}

/** Returns the records of calls that may be sent, now or after an approval. */
function toOpened(
  admissions: Admission[],
  rulings: Ruling[],
  { today, process, windows }: { today: string; process: number; windows: GuardWindows },
): OpenIntent[] {
  return admissions.flatMap(({ request, intent }, place) => {
    const ruling = rulings[place];
    if (!isOpen(ruling)) return [];
    const held = ruling.kind === 'held';
    const { idempotencyKey, content, usd, items } = request;
    const salt = idempotencyKey === null ? undefined : newSalt();
    // The fields are copied one by one, because spreading an intent takes longer than deciding about it.
    return {
      id: intent.id,
      requestId: intent.requestId,
      traceparent: intent.traceparent,
      clientAddress: intent.clientAddress,
      receivedAt: intent.receivedAt,
      caller: intent.caller,
      actor: intent.actor,
      operation: intent.operation,
      query: intent.query,
      body: intent.body,
      items: intent.items,
      coverage: intent.coverage,
      causedBy: intent.causedBy,
      process,
      idempotencyKey,
      duplicateOf: ruling.duplicateOf ?? null,
      heldFor: held ? ruling.heldFor : null,
      earlierCallId: held ? (ruling.earlierCallId ?? null) : null,
      expiresAt: held ? new Date(intent.receivedAt.getTime() + windows.approvableForMs) : null,
      reservedOn: held || usd === null ? null : today,
      contents: [
        ...(windows.duplicates ? [contentKey(request)] : []),
        ...(windows.acrossClientsSeconds > 0 && usd !== null ? paymentKeys(items) : []),
      ],
      claim: salt && { salt, contentHash: commitment(salt, content) },
    };
  });
}
