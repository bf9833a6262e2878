import { Decimal } from 'decimal.js';
import { Prisma } from '../platform/database/generated/client';
import { DatabaseTooSlow } from '../platform/database/patience';
import { PrismaService } from '../platform/database/prisma.service';
import { Asking, decide, HeldFor, Opened, State, Verdict } from '../policy/admission';
import { commitment, newSalt } from './commitment';
import { Clearance, insertDecided, insertIntentsIfClear, OpenIntent } from './intents';
import { Considered, NewAdmission } from './records';
import { earlier, Release, releaseNow } from './release';
import { GuardWindows, guardsOf } from './guard-windows';
import { Budgeted, readState, sha256 } from './state';

/** A lock is held meanwhile: who takes longer has lost its database, or its wits. */
const TRANSACTION_LIMITS = { maxWait: 5_000, timeout: 10_000 };

/** Any number that nothing else in the database locks: it makes the guard across clients see one admission at a time. */
const ACROSS_CLIENTS_LOCK = 7_070_002;

/** What was decided about a call. One that is to be sent now is `released`. */
export type Ruling = Exclude<Verdict, { kind: 'admitted' }> | { kind: 'released'; release: Release };

/**
 * Decides about calls and opens those that may be sent: claims, reservations and intents in one commit. The rows of their
 * clients are locked first, always in the same order: what is read then holds until the commit, on every instance.
 */
export async function admit(
  prisma: PrismaService,
  process: number,
  askings: NewAdmission[],
  windows: GuardWindows,
  again: boolean,
): Promise<Ruling[]> {
  const clear = again ? undefined : await admitClear(prisma, process, askings, windows);
  return clear ?? admitWithALook(prisma, process, askings, windows, again);
}

/**
 * Opens calls against which nothing stands, as is the case with almost all: one statement that makes sure of that, under the
 * same locks, instead of a transaction that looks first. @returns undefined if something may be in the way of one of them.
 */
async function admitClear(
  prisma: PrismaService,
  process: number,
  askings: NewAdmission[],
  windows: GuardWindows,
): Promise<Ruling[] | undefined> {
  if (windows.acrossClientsSeconds > 0) return undefined;
  const verdicts = decide(askings.map(toAsking), nothingKnown(windows));
  if (!verdicts.every(isOpen)) return undefined;
  const today = new Date().toISOString().slice(0, 10);
  const opened = toOpened(askings, verdicts, today, process);
  const remember = windows.duplicates;
  const clearance = toClearance(askings, opened, { day: today, remember });
  const release = releaseNow();
  const written = await insertIntentsIfClear(prisma, opened, clearance, { remember });
  return written ? verdicts.map((verdict) => toRuling(verdict, release)) : undefined;
}

async function admitWithALook(
  prisma: PrismaService,
  process: number,
  askings: NewAdmission[],
  windows: GuardWindows,
  again: boolean,
): Promise<Ruling[]> {
  return prisma.$transaction(async (tx) => {
    if (windows.acrossClientsSeconds > 0) await tx.$executeRaw`SELECT pg_advisory_xact_lock(${ACROSS_CLIENTS_LOCK})`;
    const clients = await lockClients(tx, [...new Set(askings.map(({ caller }) => caller.clientId))]);
    const before = again ? await decidedBefore(tx, askings, windows) : undefined; // its commit, if on its way, held the lock
    if (before) return [before];
    if (!(await noneRefused(tx, askings))) throw new DatabaseTooSlow();
    const { state, today } = await readState(tx, askings, clients, windows);
    const verdicts = decide(askings.map(toAsking), state);
    const opened = toOpened(askings, verdicts, today, process);
    const release = releaseNow();
    if (opened.length > 0) await insertDecided(tx, opened, { remember: windows.duplicates });
    return verdicts.map((verdict) => toRuling(verdict, release));
  }, TRANSACTION_LIMITS);
}

/** As if there were no other calls, stops or caps. */
function nothingKnown(windows: GuardWindows): State {
  return {
    claims: new Map(),
    sameContent: new Map(),
    seenAcrossClients: new Set(),
    stops: [],
    budgets: new Map(),
    guards: guardsOf(windows),
  };
}

function toClearance(
  askings: NewAdmission[],
  opened: OpenIntent[],
  { day, remember }: { day: string; remember: boolean },
): Clearance {
  const usd = new Map<string, Decimal | null>();
  for (const asking of askings) {
    const before = usd.get(asking.caller.clientId) ?? null;
    // Also of what will be held: it is refused, not held, where it is over a cap.
    usd.set(asking.caller.clientId, asking.usd === null ? before : asking.usd.plus(before ?? 0));
  }
  return {
    clients: [...usd.keys()],
    usd: [...usd.values()].map((sum) => sum?.toFixed() ?? null),
    day,
    contents: opened.map(({ contentSha256 }) => (remember ? (contentSha256 ?? null) : null)),
  };
}

/** Whoever spends locks first, and reads in statements after it: one begun before the lock was had would not see all. */
export async function lockClients(tx: Prisma.TransactionClient, ids: string[]): Promise<Budgeted[]> {
  return tx.$queryRaw<Budgeted[]>`
    -- prepared as lock_clients
    SELECT id::text, daily_cap_usd AS "dailyCapUsd", monthly_cap_usd AS "monthlyCapUsd" FROM client
    WHERE id = ANY (${ids}::uuid[]) ORDER BY id FOR NO KEY UPDATE`;
}

/**
 * What was decided about a call whose commit was reported as failed, but was not; undefined if it is not on record.
 * @throws Error if it may not be sent any more: somebody may have settled it meanwhile, and its app may have paid again.
 */
async function decidedBefore(
  tx: Prisma.TransactionClient,
  [asking]: NewAdmission[],
  { sendableForMs }: GuardWindows,
): Promise<Ruling | undefined> {
  const readAt = releaseNow();
  const [row] = await tx.$queryRaw<{ heldFor: HeldFor | null; ageMs: number; settled: boolean }[]>`
    SELECT held_for AS "heldFor", extract(epoch FROM clock_timestamp() - recorded_at)::float * 1000 AS "ageMs",
      EXISTS (SELECT FROM resolution s WHERE s.intent_id = i.id) OR EXISTS (SELECT FROM outcome o WHERE o.intent_id = i.id)
        OR EXISTS (SELECT FROM refusal r WHERE r.id = i.id) AS settled
    FROM intent i WHERE id = ${asking?.id}::uuid`;
  if (!row) return undefined;
  if (row.heldFor) return { kind: 'held', heldFor: row.heldFor };
  if (row.settled || row.ageMs > sendableForMs) throw new Error('the call was admitted too long ago, or settled since');
  return { kind: 'released', release: earlier(readAt, row.ageMs) };
}

function toRuling(verdict: Verdict, release: Release): Ruling {
  return verdict.kind === 'admitted' ? { kind: 'released', release } : verdict;
}

/** Whether none of these calls was refused while its admission was on its way. To be asked once their clients are locked. */
async function noneRefused(tx: Prisma.TransactionClient, askings: NewAdmission[]): Promise<boolean> {
  const [row] = await tx.$queryRaw<{ none: boolean }[]>`
    -- prepared as none_refused
    SELECT none_refused(${askings.map(({ id }) => id)}::uuid[]) AS none`;
  return row?.none === true;
}

export function toAsking({ caller, items, ...asking }: Considered): Asking {
  const payments = items.flatMap(({ email, phone, handle, receiver, amountUsd }) =>
    amountUsd === null
      ? []
      : [`${email?.toLowerCase() ?? phone ?? handle?.toLowerCase() ?? receiver} ${amountUsd.toFixed()}`],
  );
  return {
    ...asking,
    clientId: caller.clientId,
    itemCount: items.length,
    payments: asking.usd === null ? [] : payments,
  };
}

function isOpen(verdict: Verdict | undefined): verdict is Opened {
  return verdict?.kind === 'admitted' || verdict?.kind === 'held';
}

/** What is written of those that may be sent, now or once they are approved. */
function toOpened(askings: NewAdmission[], verdicts: Verdict[], today: string, process: number): OpenIntent[] {
  return askings.flatMap((asking, place) => {
    const verdict = verdicts[place];
    return isOpen(verdict) ? { ...toOpen(asking, verdict, today), process } : [];
  });
}

function toOpen(asking: NewAdmission, verdict: Opened, today: string): Omit<OpenIntent, 'process'> {
  const held = verdict.kind === 'held';
  const salt = asking.idempotencyKey === null ? undefined : newSalt();
  return {
    ...asking,
    duplicateOf: verdict.duplicateOf ?? null,
    heldFor: held ? verdict.heldFor : null,
    expiresAt: held ? asking.expiresAt : null,
    reservedOn: held || asking.usd === null ? null : today,
    contentSha256: sha256(asking.content),
    claim: salt && { salt, contentHash: commitment(salt, asking.content) },
  };
}
