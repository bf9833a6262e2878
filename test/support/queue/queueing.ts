import { IntentDocument } from '../../../src/journal/records/documents';
import { RunningConfig } from '../../../src/platform/config/config';
import { TestDatabase } from '../databases/test-database';
import type { BodyOf } from '../http/supertest';
import { ApprovalScene, startApproving } from '../payments/approving';
import { eventually } from '../payments/paying';
import { copyIntent } from '../records/intents';

type Changes = { [Name in keyof IntentDocument]?: IntentDocument[Name] | Date | null };

/** The place of a call in the queue. */
interface QueuePlace {
  /** The number of the process that has claimed it. */
  process?: number;
  beforehand?: (id: string) => Promise<unknown>;
}

/** Two proxies on one database, and calls in their queue. */
export interface QueueScene extends ApprovalScene {
  /**
   * Puts a copy of the paid call into the queue, with its reservation of 2.5 USD.
   * @param changes to members of its record.
   * @param row changes to its place in the queue.
   */
  enqueue(changes?: Changes, row?: QueuePlace): Promise<string>;
  /** Waits until a call is answered or has ended, and returns it. Requires this outcome. */
  become(id: string, outcome: string): Promise<BodyOf<'get', '/v1/calls/{id}'>>;
  /** Waits until an instance has looked through the whole queue, even during a stop. */
  passed(): Promise<void>;
  /** Returns whether the queue has the call. */
  isInQueue(id: string): Promise<boolean>;
}

export async function startQueueing(settings: Partial<RunningConfig> = {}): Promise<QueueScene> {
  const approving = await startApproving(settings);
  const { query, model, proxy } = approving;
  const enqueue: QueueScene['enqueue'] = (changes = {}, row = {}) =>
    enqueueCopy(proxy.database, model, changes, row);
  const become: QueueScene['become'] = async (id, outcome) => {
    let call = await approving.read(id);
    await eventually(async () => {
      call = await approving.read(id);
      return call.outcome !== 'queued' && call.outcome !== 'in_progress';
    });
    expect(call.outcome).toBe(outcome);
    return call;
  };
  return {
    ...approving,
    enqueue,
    become,
    passed: async () => {
      // A round begins by ending the expired calls. One of the two instances does so twice.
      for (let times = 0; times < 3; times += 1)
        await become(await enqueue({ expires_at: new Date() }), 'not_sent');
    },
    isInQueue: async (id) => (await query('SELECT FROM queued_call WHERE intent_id = $1', [id])).length > 0,
  };
}

/** Puts a copy of a paid call into the queue, see `QueueScene.enqueue`. */
export async function enqueueCopy(
  database: TestDatabase,
  model: string,
  changes: Changes = {},
  { process, beforehand }: QueuePlace = {},
): Promise<string> {
  const today = new Date().toISOString().slice(0, 10);
  const expires = new Date(Date.now() + 3_600_000);
  const queued = { expires_at: expires, reserved_on: today, idempotency_key_commitment: null };
  const id = await copyIntent(database, model, { ...queued, ...changes });
  await beforehand?.(id);
  await database.query(
    `INSERT INTO spending (client_id, day, usd)
     SELECT client_id, reserved_on, total_usd FROM intent WHERE id = $1
     ON CONFLICT (client_id, day) DO UPDATE SET usd = spending.usd + EXCLUDED.usd`,
    [id],
  );
  await database.query(
    `INSERT INTO queued_call (account, client_id, intent_id, operation, process, ends_at)
     SELECT 'main', client_id, id, operation, $2, expires_at FROM intent WHERE id = $1`,
    [id, process ?? null],
  );
  return id;
}
