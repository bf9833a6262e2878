import { ADMISSION_LIMIT_KEYS, limitColumns } from '../../access/clients/limits/limits';
import { earlier, now } from '../../continuity/heartbeat/instant';
import { readFeeRule } from '../../operations/items/fees';
import { IS_QUEUED } from '../../operations/lifecycle/lifecycle-sql';
import { Prisma } from '../../platform/database/generated/client';
import { LOCKS } from '../../platform/database/locks';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { DatabaseTooSlow } from '../../platform/database/pools/timeouts';
import { decide } from '../../policy/decide';
import { HeldFor } from '../../policy/limits/holds';
import { stopFor } from '../../policy/limits/stops';
import { insertDecided, toRows } from '../records/intents';
import { claimKey } from '../records/records';
import { readStops } from '../stops/stops';
import {
  Admission,
  AdmissionResult,
  AdmissionRules,
  AdmittedBatch,
  GuardWindows,
  toOpened,
  toResults,
} from './admission-rules';
import { admitClear, callersOf } from './fast-path';
import { insertRecipientPayments } from './recipients';
import { BudgetRow, readState } from './state';

/** The transaction holds locks. A longer one means a lost database or a frozen process. */
const TRANSACTION_LIMITS = { maxWait: 5_000, timeout: 10_000 };

const LIMIT_COLUMNS = Prisma.raw(limitColumns(ADMISSION_LIMIT_KEYS, 'client'));

/**
 * Decides about calls and opens those that may be sent. Claims, reservations and intents share one commit.
 * Locks the rows of the clients first, always in the same order. Later reads hold until the commit, on every
 * instance.
 * See docs/internals/decisions/money/0006-admission-in-one-transaction.md.
 */
export async function admit(
  prisma: PrismaService,
  process: number,
  admissions: Admission[],
  rules: AdmissionRules,
  again: boolean,
): Promise<AdmittedBatch> {
  const clear = again ? undefined : await admitClear(prisma, process, admissions, rules);
  return clear ?? admitAfterLookup(prisma, process, admissions, rules, again);
}

async function admitAfterLookup(
  prisma: PrismaService,
  process: number,
  admissions: Admission[],
  rules: AdmissionRules,
  again: boolean,
): Promise<AdmittedBatch> {
  const { windows, fees } = rules;
  return prisma.$transaction(async (tx) => {
    if (windows.acrossClientsSeconds > 0)
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(${LOCKS.acrossClients})`;
    const clients = await lockClients(tx, [...new Set(admissions.map(({ request }) => request.clientId))]);
    // An unconfirmed commit has held the lock until now.
    const before = again ? await decidedBefore(tx, admissions, windows) : undefined;
    if (before) return { results: [before], opened: [] };
    if (!(await noneRefused(tx, admissions))) throw new DatabaseTooSlow();
    const changed = await readChangedKeys(tx, admissions);
    const current = admissions.filter(({ intent }) => !changed.has(intent.caller.keyId));
    const requests = current.map(({ request }) => request);
    const {
      state,
      today,
      fees: newer,
    } = await readState(tx, requests, clients, {
      ...windows,
      knownFees: fees.known,
    });
    fees.learn(newer);
    const rulings = decide(fees.priced(requests), state);
    const opened = toRows(toOpened(current, rulings, { today, process, rules }));
    const release = now();
    if (opened.length > 0) await insertDecided(tx, opened);
    if (prisma.isPooled) await reportServer(prisma, tx);
    const { approvableForMs } = windows;
    const intents = opened.map(({ intent }) => intent);
    await insertRecipientPayments(tx, intents, state.budgets, { today, approvableForMs });
    const results = new Map(
      toResults(rulings, opened, release).map((result, position) => [current[position], result]),
    );
    return {
      results: admissions.map((admission) => results.get(admission) ?? { kind: 'caller_changed' }),
      opened,
    };
  }, TRANSACTION_LIMITS);
}

/** Reports the server of the transaction. A new connection may lead to another server. */
async function reportServer(prisma: PrismaService, tx: Prisma.TransactionClient): Promise<void> {
  const [row] = await tx.$queryRaw<{ server: string | null }[]>`SELECT database_server() AS server`;
  prisma.ranOn(row?.server);
}

/**
 * Returns the keys that are no longer valid, or whose client has changed since the lookup.
 * See docs/internals/decisions/money/0027-admission-checks-the-key.md.
 */
async function readChangedKeys(tx: Prisma.TransactionClient, admissions: Admission[]): Promise<Set<string>> {
  const { keys, rights } = callersOf(admissions);
  const rows = await tx.$queryRaw<{ key: string }[]>`
    -- prepared as changed_keys
    SELECT changed_keys(${keys}::uuid[], ${rights}::text[])::text AS key`;
  return new Set(rows.map(({ key }) => key));
}

/**
 * Locks clients. Every spender locks first and reads in later statements: a statement that began before the
 * lock would miss commits.
 */
export async function lockClients(tx: Prisma.TransactionClient, ids: string[]): Promise<BudgetRow[]> {
  return tx.$queryRaw<BudgetRow[]>`
    -- prepared as lock_clients
    SELECT id::text, blocks_recipients AS "blocksRecipients", ${LIMIT_COLUMNS} FROM client
    WHERE id = ANY (${ids}::uuid[]) ORDER BY id FOR NO KEY UPDATE`;
}

/**
 * Returns the decision about a call whose commit was reported as failed. Undefined if the commit did fail.
 * Other calls may have changed the state since, so the row of the call does not decide alone.
 * @throws Error if the call may not be sent any more: it was settled or refused, it is too old, or its key
 * belongs to another call. Its app may have paid again.
 */
async function decidedBefore(
  tx: Prisma.TransactionClient,
  [admission]: Admission[],
  { sendableForMs }: GuardWindows,
): Promise<AdmissionResult | undefined> {
  const readAt = now();
  if (!admission) return undefined;
  const { id, clientId, endUserId, operation, idempotencyKey } = admission.request;
  const key = idempotencyKey === null ? null : claimKey(endUserId, idempotencyKey);
  const [row] = await tx.$queryRaw<
    { heldFor: HeldFor | null; isQueued: boolean; ageMs: number; isOver: boolean; fee: string | null }[]
  >`
    SELECT held_for AS "heldFor", ${Prisma.raw(IS_QUEUED('i'))} AS "isQueued",
      record::json ->> 'expected_fee' AS fee,
      extract(epoch FROM clock_timestamp() - recorded_at)::float * 1000 AS "ageMs",
      EXISTS (SELECT FROM outcome o WHERE o.intent_id = i.id)
        OR EXISTS (SELECT FROM settlement s WHERE s.intent_id = i.id)
        OR EXISTS (SELECT FROM refusal r WHERE r.id = i.id)
        OR EXISTS (
          SELECT FROM idempotency_claim c WHERE c.client_id = ${clientId}::uuid AND c.operation = ${operation}
            AND c.key IN (${key}, hashed_key(${key})) AND c.intent_id <> i.id) AS "isOver"
    FROM intent i WHERE id = ${id}::uuid`;
  if (!row) return undefined;
  if (row.isOver) throw new Error('the call was settled since, or its key belongs to another call');
  if (row.heldFor) return { kind: 'held', heldFor: row.heldFor };
  if (row.isQueued) return { kind: 'queued' };
  if (row.ageMs > sendableForMs) throw new Error('the call was admitted too long ago');
  const stop = stopFor(await readStops(tx), { clientId, operation });
  if (stop) return { kind: 'stopped', stop };
  const feeRule = row.fee === null ? null : (readFeeRule(row.fee) ?? null);
  return { kind: 'released', release: earlier(readAt, row.ageMs), feeRule };
}

/** Returns whether none of these calls was refused during its admission. Their clients must be locked. */
async function noneRefused(tx: Prisma.TransactionClient, admissions: Admission[]): Promise<boolean> {
  const [row] = await tx.$queryRaw<{ none: boolean }[]>`
    -- prepared as none_refused
    SELECT none_refused(${admissions.map(({ request }) => request.id)}::uuid[]) AS none`;
  return row?.none === true;
}
