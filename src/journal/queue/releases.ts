import { now } from '../../continuity/heartbeat/instant';
import { callsWith, STATE_COLUMNS, stateIn } from '../../operations/lifecycle/lifecycle-sql';
import { entriesOfAnswer } from '../../operations/lifecycle/settlement';
import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { lockClients } from '../admission/admissions';
import { IntentDocument } from '../records/documents';
import { insertOutcomesWithin } from '../records/outcome-rows';
import { NewOutcome, Release, Screened } from '../records/records';
import { openQueued } from './queue';

/** What happens to a queued call in its turn. */
export type QueueRuling =
  /** Includes the verdict of the screening service in its turn. Null without one. */
  | { kind: 'send'; screening: Screened | null }
  /** It may not be sent any more, for this reason. */
  | { kind: 'end'; failure: string }
  /** It stays in the queue. `postponed` if it is not tried again at once. */
  | { kind: 'wait'; postponed?: true };

/** The result of a batch. */
export interface ReleasedBatch {
  /** The calls to send, with their release. Only this process may send them. */
  released: ReadonlySet<string>;
  release: Release;
  /** The records of the outcomes of calls that ended. */
  outcomes: string[];
}

/**
 * Releases queued calls that this process has claimed, or ends them, in one transaction. A release is a
 * decision like an approval: from its commit on, the call is in progress, and in doubt if this process ends.
 * Reserves nothing, because the admission did. An ended call gives its reservation and its key back.
 * @param rule decides about the calls that are still queued. Runs while their clients are locked.
 */
export async function releaseClaimed(
  prisma: PrismaService,
  process: number,
  calls: IntentDocument[],
  rule: (tx: Prisma.TransactionClient, queued: ReadonlySet<string>) => Promise<Map<string, QueueRuling>>,
): Promise<ReleasedBatch> {
  const ids = calls.map(({ id }) => id);
  return prisma.$transaction(async (tx) => {
    await lockClients(tx, [...new Set(calls.map(({ client_id: clientId }) => clientId))]);
    const claimed = await tx.$queryRaw<{ id: string }[]>`
      SELECT intent_id::text AS id FROM queued_call
      WHERE intent_id = ANY (${ids}::uuid[]) AND process = ${process}::integer FOR UPDATE`;
    const queued = await readQueued(
      tx,
      claimed.map(({ id }) => id),
    );
    const rulings = await rule(tx, queued);
    const release = now();
    const ruled = calls.flatMap((intent) => {
      const ruling = rulings.get(intent.id) ?? ({ kind: 'wait' } as const);
      return queued.has(intent.id) ? [{ intent, ruling }] : [];
    });
    const sent = ruled.flatMap(({ intent: { id }, ruling }) =>
      ruling.kind === 'send' ? [{ id, screening: ruling.screening }] : [],
    );
    await insertReleases(tx, process, sent);
    const ended = ruled.flatMap(({ intent, ruling }) =>
      ruling.kind === 'end' ? [unsent(intent, ruling.failure)] : [],
    );
    const outcomes = ended.length > 0 ? await insertOutcomesWithin(tx, ended) : [];
    // A call that is not queued any more was decided, refused or settled by others.
    const waiting = ruled.flatMap(({ intent, ruling }) => (ruling.kind === 'wait' ? [intent.id] : []));
    await tx.$executeRaw`
      DELETE FROM queued_call WHERE intent_id = ANY (${claimed.map(({ id }) => id)}::uuid[])
        AND intent_id <> ALL (${waiting}::uuid[])`;
    if (waiting.length > 0) await openQueued(tx, waiting);
    return { released: new Set(sent.map(({ id }) => id)), release, outcomes };
  });
}

/**
 * Ends a queued call without sending it, because another call with its idempotency key is paid or may be. The
 * client must be locked.
 * @returns false if it is not queued any more.
 */
export async function endQueued(tx: Prisma.TransactionClient, id: string, failure: string): Promise<boolean> {
  await tx.$queryRaw`SELECT intent_id::text FROM queued_call WHERE intent_id = ${id}::uuid FOR UPDATE`;
  const [row] = await tx.$queryRaw<{ record: string }[]>`
    SELECT record FROM intent WHERE id = ${id}::uuid`;
  if (!row || !(await readQueued(tx, [id])).has(id)) return false;
  await insertOutcomesWithin(tx, [unsent(JSON.parse(row.record) as IntentDocument, failure)]);
  await tx.$executeRaw`DELETE FROM queued_call WHERE intent_id = ${id}::uuid`;
  return true;
}

async function readQueued(tx: Prisma.TransactionClient, ids: string[]): Promise<ReadonlySet<string>> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT id::text AS id FROM (SELECT i.id, ${STATE_COLUMNS} FROM ${callsWith(ids)}) AS call
    WHERE ${stateIn(['queued'])}`;
  return new Set(rows.map(({ id }) => id));
}

/** Nobody decides about a queued call, so the decider on record is the requesting key. */
async function insertReleases(
  tx: Prisma.TransactionClient,
  process: number,
  sent: { id: string; screening: Screened | null }[],
): Promise<void> {
  if (sent.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO decision (intent_id, kind, reason, body_commitment, process, screening, client_id, key_id)
    SELECT i.id, 'released', 'Sent in its turn.', decode(i.record::json ->> 'body_commitment', 'hex'),
      ${process}::integer, s.screening, i.client_id, (i.record::json ->> 'key_id')::uuid
    FROM json_to_recordset(${JSON.stringify(sent)}::json) AS s(id uuid, screening text)
    JOIN intent i ON i.id = s.id AND i.id = ANY (${sent.map(({ id }) => id)}::uuid[])`;
}

/** Returns the outcome of a call that was never sent. */
function unsent({ id, operation, item_count: items }: IntentDocument, failure: string): NewOutcome {
  const at = clock.now();
  return {
    intentId: id,
    kind: 'not_sent',
    failure,
    upstreamStatus: null,
    contentType: null,
    retryAfter: null,
    body: null,
    items: [],
    entries: entriesOfAnswer(operation, 'not_sent', items, []),
    countedUsd: '0',
    sentAt: at,
    answeredAt: at,
    upstreamMs: 0,
    answerOf: null,
    attempts: 0,
    tries: [],
  };
}
