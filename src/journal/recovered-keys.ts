import { STATES } from '../operations/lifecycle';
import { Prisma } from '../platform/database/generated/client';
import { PrismaService } from '../platform/database/prisma.service';
import { isKeyFree, KnownCall, readCallStates } from './call-states';
import { rejectForKey } from './decisions';
import { alarmIfPaidTwice, giveKey } from './keys-paid-twice';
import { claimedKeyOf, CopiedLine } from './local-copies';

/** A copied call whose key another call has in the database. */
interface Reused {
  id: string;
  client_id: string;
  operation: string;
  /** As the claim has it. */
  key: string;
  owner: string;
  /** Whether the owner is younger than the copied call. */
  isYounger: boolean;
  salt: string | null;
  hash: string | null;
}

/**
 * Gives the keys of copied calls back to them. If a database went on before all copies were restored, a key may have been
 * used again. The younger call then has the key, although the copied one was paid, or may have been.
 *
 * A younger call that waits for an approval is declined, so that nobody approves a second payment. If it was not executed,
 * the key belongs to the copied call again, so that a retry is answered with its outcome. If it was paid as well, the
 * alarm for a key that was paid twice is raised. A copied call that was rejected has its key again if the younger one
 * left it free. From an older call, only one that is paid takes the key. Call this after the outcomes were restored. It can
 * be repeated.
 */
export async function giveKeysBack(prisma: PrismaService, lines: CopiedLine[]): Promise<void> {
  const keyed = lines.flatMap((line) => {
    const key = line.kind === 'intent' ? claimedKeyOf(line) : undefined;
    if (line.kind !== 'intent' || key === undefined) return [];
    const { id, client_id, operation } = line.record;
    const { salt = null, hash = null } = line.claim ?? {};
    return [{ id, client_id, operation, key, salt, hash }];
  });
  await prisma.$transaction(async (tx) => {
    const reused = await tx.$queryRaw<Reused[]>`
      SELECT t.id::text AS id, t.client_id::text AS client_id, t.operation, k.key, t.salt, t.hash,
        k.intent_id::text AS owner, k.intent_id > t.id AS "isYounger"
      FROM json_to_recordset(${JSON.stringify(keyed)}::json) AS t(id uuid, client_id uuid, operation text,
        key text, salt text, hash text)
      JOIN idempotency_claim k ON (k.client_id, k.operation) = (t.client_id, t.operation) AND k.key IN (t.key, hashed_key(t.key))
      WHERE k.intent_id <> t.id ORDER BY t.id DESC`;
    const calls = reused.flatMap(({ id, owner }) => [id, owner]);
    const states = await readCallStates(tx, calls, 0);
    for (const one of reused) await giveKeyBack(tx, one, states);
  });
}

async function giveKeyBack(tx: Prisma.TransactionClient, reused: Reused, states: Map<string, KnownCall>) {
  const [copied, owner] = [states.get(reused.id), states.get(reused.owner)];
  if (!copied || !owner || isKeyFree(copied)) return;
  const isPaid = STATES[copied.state].executed === 'yes';
  if (!reused.isYounger && (!isPaid || STATES[owner.state].executed === 'yes')) return;
  const mayBePaid = STATES[copied.state].executed !== 'no';
  const isDeclined =
    mayBePaid && owner.state === 'pending_approval' && (await rejectForKey(tx, reused.owner, restored(reused.id)));
  const isOver = mayBePaid ? STATES[owner.state].executed === 'no' : isKeyFree(owner);
  if (isDeclined || isOver || !reused.isYounger) await giveKey(tx, reused, reused);
  else if (isPaid)
    await alarmIfPaidTwice(tx, { ...reused, idempotency_key: reused.key }, 'was restored from a copy and is paid');
}

const restored = (id: string) =>
  `Call ${id} was restored from a copy. It has the same idempotency key, and is paid or may be.`;
