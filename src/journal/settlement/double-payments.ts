import { Logger } from '@nestjs/common';
import { CallState } from '../../operations/lifecycle/lifecycle';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { isKeyFree, isPaid, KnownCall, mayBePaid, readCallStates } from '../admission/call-states';
import { claimedKeyOf, CopiedLine } from '../copies/local-copies';
import { rejectForKey } from '../decisions/decisions';
import { endQueued } from '../queue/releases';
import { IntentDocument } from '../records/documents';
import { raiseOnce } from './alarms';

const logger = new Logger('Journal');

/** A call that has or had an idempotency key. */
interface KeyedCall extends Pick<IntentDocument, 'id' | 'client_id' | 'operation'> {
  /** The key as in its claim. Undefined for the key of the stored request. */
  key?: string;
}

export function isKeyed({ idempotency_key_commitment: committed }: IntentDocument): boolean {
  return committed !== undefined;
}

/** The call that now has the key of another one. */
interface Owner extends KnownCall {
  id: string;
  /** The key as in its claim. */
  key: string;
  client: string;
}

/**
 * Returns their idempotency keys to calls that turned out to be paid. A retry is then answered with the
 * outcome instead of paid. Another call has the key if the first was settled as not executed, or if an older
 * database lacked it. A key owner that waits for an approval or its turn is declined. A paid one keeps the
 * key. An alarm is raised if the owner is paid, or may be. Lock the clients first, or an admission may take a
 * key over meanwhile.
 * @param executed calls that were executed. Nothing happens to a call whose payouts failed.
 */
export async function keepKeys(tx: Prisma.TransactionClient, executed: KeyedCall[]): Promise<void> {
  const owned = await ownersOf(tx, executed);
  for (const call of executed.filter(({ id }) => owned.has(id))) {
    const owner = (await ownersOf(tx, [call])).get(call.id); // One of these may have the key since.
    if (owner) await keepKey(tx, call, owner);
  }
}

async function keepKey(tx: Prisma.TransactionClient, executed: KeyedCall, owner: Owner): Promise<void> {
  const known = (await readCallStates(tx, [executed.id], 0)).get(executed.id);
  if (!known || !isPaid(known)) return;
  const isDeclined = await decline(
    tx,
    owner.id,
    owner.state,
    `Call ${executed.id} has the same idempotency key and is paid.`,
  );
  // The content of the key is no longer known, so the key alone counts.
  if (!isPaid(owner))
    await giveKey(tx, executed, { owner: owner.id, key: owner.key, salt: null, hash: null });
  if (mayBePaid(owner) && !isDeclined)
    await raise(tx, executed, owner, 'was not executed, or failed, and is paid after all');
}

/**
 * Declines the owner of a key, if it waits for an approval or for its turn. @returns whether it did.
 * @param reason for the record of a held call.
 */
async function decline(
  tx: Prisma.TransactionClient,
  owner: string,
  state: CallState,
  reason: string,
): Promise<boolean> {
  if (state === 'queued') return endQueued(tx, owner, 'key_paid');
  return state === 'pending_approval' && rejectForKey(tx, owner, reason);
}

/** A claim of an idempotency key. */
interface Claim {
  /** The current owner of the key. */
  owner: string;
  key: string;
  /** Of the content of the receiving call. Hex. */
  salt: string | null;
  hash: string | null;
}

/** Returns an idempotency key to its earlier call. */
async function giveKey(
  tx: Prisma.TransactionClient,
  { id, client_id: clientId, operation }: KeyedCall,
  { owner, key, salt, hash }: Claim,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE idempotency_claim SET intent_id = ${id}::uuid, salt = decode(${salt}, 'hex'),
      content_hash = decode(${hash}, 'hex')
    WHERE client_id = ${clientId}::uuid AND operation = ${operation} AND key = ${key}
      AND intent_id = ${owner}::uuid`;
  logger.warn({ call_id: id, other_call_id: owner }, 'a call has its idempotency key again');
}

/**
 * Raises an alarm if the idempotency key of a paid call now belongs to another call that is or may be paid.
 * The alarm is an act of the proxy in the activity log, an error in the process log, and a metric. The next
 * reconciliation run reports the same as `key_paid_twice`, but an operator should know at once.
 * @param how the news about the call, for the activity log.
 */
async function alarmIfPaidTwice(tx: Prisma.TransactionClient, paid: KeyedCall, how: string): Promise<void> {
  const owner = (await ownersOf(tx, [paid])).get(paid.id);
  if (owner && mayBePaid(owner)) await raise(tx, paid, owner, how);
}

/** Returns the calls that have the keys of these calls, by the ID of the latter. */
async function ownersOf(tx: Prisma.TransactionClient, calls: KeyedCall[]): Promise<Map<string, Owner>> {
  if (calls.length === 0) return new Map();
  const ids = calls.map(({ id }) => id);
  const keyed = calls.map(({ id, client_id, operation, key = null }) => ({ id, client_id, operation, key }));
  const claims = await tx.$queryRaw<{ of: string; id: string; key: string; client: string }[]>`
    SELECT own.id::text AS of, k.intent_id::text AS id, k.key, c.name AS client
    FROM (
      SELECT t.id, t.client_id, t.operation,
        coalesce(t.key, scoped_key(i.person_id, i.record, b.idempotency_key)) AS key
      FROM json_to_recordset(${JSON.stringify(keyed)}::json)
        AS t(id uuid, client_id uuid, operation text, key text)
      LEFT JOIN intent i ON i.id = t.id AND i.id = ANY (${ids}::uuid[])
      LEFT JOIN intent_body b ON b.intent_id = t.id AND b.intent_id = ANY (${ids}::uuid[])
    ) AS own
    JOIN idempotency_claim k ON (k.client_id, k.operation) = (own.client_id, own.operation)
      AND k.key IN (own.key, hashed_key(own.key)) AND k.intent_id <> own.id
    JOIN client c ON c.id = k.client_id`;
  const owners = claims.map(({ id }) => id);
  const states = owners.length > 0 ? await readCallStates(tx, owners, 0) : new Map<string, KnownCall>();
  return new Map(
    claims.flatMap(({ of, ...claim }) => {
      const known = states.get(claim.id);
      return known ? [[of, { ...claim, ...known }]] : [];
    }),
  );
}

/** Raises the alarm once per pair of calls. */
async function raise(
  tx: Prisma.TransactionClient,
  paid: KeyedCall,
  owner: Owner,
  how: string,
): Promise<void> {
  const { id, client_id: clientId, operation } = paid;
  const alarm = {
    action: 'key_paid_twice' as const,
    target_client_id: clientId,
    target_client: owner.client,
    after: '{}',
    call_id: id,
    reason: `Call ${id} ${how}. Call ${owner.id} has its key now and is ${owner.state}.`,
  };
  if (await raiseOnce(tx, alarm, [owner.id]))
    logger.error({ call_id: id, other_call_id: owner.id, operation }, 'one idempotency key, two paid calls');
}

/** A copied call whose key belongs to another call in the database. */
interface ReusedKey {
  id: string;
  client_id: string;
  operation: string;
  /** As in the claim. */
  key: string;
  owner: string;
  /** Whether the owner is younger than the copied call. */
  isYounger: boolean;
  salt: string | null;
  hash: string | null;
}

/**
 * Returns the keys of copied calls to them. If a database served before all copies were restored, a key may
 * have been reused. The younger call then has the key, although the copied one was paid, or may have been.
 *
 * A younger call that waits for an approval is declined, against a second payment. If it was not executed,
 * the copied call gets the key back, and a retry is answered with its outcome. If it was paid too, the alarm
 * for a key that was paid twice is raised. A rejected copied call gets its key back if the younger one left
 * it free. Only a paid call takes the key from an older one. Call it after restoring the outcomes.
 */
export async function giveKeysBack(prisma: PrismaService, lines: CopiedLine[]): Promise<void> {
  const keyed = lines.flatMap((line) => {
    if (line.kind !== 'intent' || !line.claim) return [];
    const { id, client_id, operation } = line.record;
    const { salt, hash } = line.claim;
    const key = claimedKeyOf(line);
    return [{ id, client_id, operation, key, salt, hash }];
  });
  await prisma.$transaction(async (tx) => {
    const reused = await tx.$queryRaw<ReusedKey[]>`
      SELECT t.id::text AS id, t.client_id::text AS client_id, t.operation, k.key, t.salt, t.hash,
        k.intent_id::text AS owner, k.intent_id > t.id AS "isYounger"
      FROM json_to_recordset(${JSON.stringify(keyed)}::json) 
        AS t(id uuid, client_id uuid, operation text, key text, salt text, hash text)
      JOIN idempotency_claim k ON (k.client_id, k.operation) = (t.client_id, t.operation)
        AND k.key IN (t.key, hashed_key(t.key))
      WHERE k.intent_id <> t.id ORDER BY t.id DESC`;
    const calls = reused.flatMap(({ id, owner }) => [id, owner]);
    const states = await readCallStates(tx, calls, 0);
    for (const one of reused) await giveKeyBack(tx, one, states);
  });
}

async function giveKeyBack(tx: Prisma.TransactionClient, reused: ReusedKey, states: Map<string, KnownCall>) {
  const [copied, owner] = [states.get(reused.id), states.get(reused.owner)];
  if (!copied || !owner || isKeyFree(copied)) return;
  if (!reused.isYounger && (!isPaid(copied) || isPaid(owner))) return;
  const isDeclined = mayBePaid(copied) && (await decline(tx, reused.owner, owner.state, restored(reused.id)));
  const isOver = mayBePaid(copied) ? !mayBePaid(owner) : isKeyFree(owner);
  if (isDeclined || isOver || !reused.isYounger) await giveKey(tx, reused, reused);
  else if (isPaid(copied)) await alarmIfPaidTwice(tx, reused, 'was restored from a copy and is paid');
}

const restored = (id: string) =>
  `Call ${id} was restored from a copy. It has the same idempotency key, and is paid or may be.`;
