import { Prisma } from '../database/generated/client';
import { PrismaService } from '../database/prisma.service';
import { Asking, decide, HeldFor, Verdict } from '../policy/admission';
import { commitment, newSalt } from './commitment';
import { insertIntents, OpenIntent } from './intents';
import { Considered, NewAdmission } from './records';
import { Budgeted, GuardWindows, readState, sha256 } from './state';

/** A lock is held meanwhile: who takes longer has lost its database, or its wits. */
const TRANSACTION_LIMITS = { maxWait: 5_000, timeout: 10_000 };

/** Any number that nothing else in the database locks: it makes the guard across clients see one admission at a time. */
const ACROSS_CLIENTS_LOCK = 7_070_002;

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
): Promise<Verdict[]> {
  return prisma.$transaction(async (tx) => {
    if (windows.acrossClientsSeconds > 0) await tx.$executeRaw`SELECT pg_advisory_xact_lock(${ACROSS_CLIENTS_LOCK})`;
    const clients = await lockClients(tx, [...new Set(askings.map(({ caller }) => caller.clientId))]);
    const before = again ? await decidedBefore(tx, askings) : undefined; // its commit, if on its way, held the lock
    if (before) return before;
    const { state, today } = await readState(tx, askings, clients, windows);
    const verdicts = decide(askings.map(toAsking), state);
    const open = askings.flatMap((asking, place) => toOpen(asking, verdicts[place], today) ?? []);
    const opened = open.map((intent) => ({ ...intent, process }));
    if (opened.length > 0) await insertIntents(tx, opened, { remember: windows.duplicateSeconds > 0 });
    return verdicts;
  }, TRANSACTION_LIMITS);
}

/** Whoever spends locks first, and reads in statements after it: one begun before the lock was had would not see all. */
export async function lockClients(tx: Prisma.TransactionClient, ids: string[]): Promise<Budgeted[]> {
  return tx.$queryRaw<Budgeted[]>`
    -- prepared as lock_clients
    SELECT id::text, daily_cap_usd AS "dailyCapUsd", monthly_cap_usd AS "monthlyCapUsd" FROM client
    WHERE id = ANY (${ids}::uuid[]) ORDER BY id FOR NO KEY UPDATE`;
}

/** What was decided about a call whose commit was reported as failed, but was not; undefined if it is not on record. */
async function decidedBefore(tx: Prisma.TransactionClient, [asking]: NewAdmission[]): Promise<Verdict[] | undefined> {
  const [row] = await tx.$queryRaw<{ heldFor: HeldFor | null }[]>`
    SELECT held_for AS "heldFor" FROM intent WHERE id = ${asking?.id}::uuid`;
  if (!row) return undefined;
  return [row.heldFor ? { kind: 'held', heldFor: row.heldFor } : { kind: 'admitted' }];
}

export function toAsking({ caller, items, ...asking }: Considered): Asking {
  const payments = items.flatMap(({ email, phone, handle, receiver, amountUsd }) =>
    amountUsd === null
      ? []
      : [`${email?.toLowerCase() ?? phone ?? handle?.toLowerCase() ?? receiver} ${amountUsd.toFixed()}`],
  );
  return { ...asking, clientId: caller.clientId, payments: asking.usd === null ? [] : payments };
}

function toOpen(
  asking: NewAdmission,
  verdict: Verdict | undefined,
  today: string,
): Omit<OpenIntent, 'process'> | undefined {
  if (verdict?.kind !== 'admitted' && verdict?.kind !== 'held') return undefined;
  const held = verdict.kind === 'held';
  const salt = newSalt();
  return {
    ...asking,
    heldFor: held ? verdict.heldFor : null,
    expiresAt: held ? asking.expiresAt : null,
    reservedOn: held || asking.usd === null ? null : today,
    contentSha256: sha256(asking.content),
    claim: { salt, contentHash: commitment(salt, asking.content) },
  };
}
