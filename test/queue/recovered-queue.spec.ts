import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { restoreFromCopies } from '../../src/journal/recovery/recovery';
import { keepKeys } from '../../src/journal/settlement/double-payments';
import { PrismaService } from '../../src/platform/database/pools/prisma.service';
import { copyAlone, loseCalls } from '../support/payments/lost-calls';
import { QueueScene, startQueueing } from '../support/queue/queueing';

/** An older database may lack the records that a queued call was sent. */
describe('a queued call of a recovered database', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-queue-'));
  let queueing: QueueScene;

  beforeAll(async () => (queueing = await startQueueing({ dataDir })));
  beforeEach(() => queueing.reset());
  afterAll(async () => {
    await queueing.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const prisma = () => queueing.proxy.app.get(PrismaService);
  const restore = (folder = dataDir) =>
    restoreFromCopies(prisma(), [folder], { upstreamTimeoutMs: 30_000, upstreamTimeouts: new Map() });

  it('ends if another call with its key turns out to be paid', async () => {
    const key = 'salary-9';
    const first = await queueing.pay().set('Idempotency-Key', key).expect(200);
    const { 'x-call-id': executed = '' } = first.headers;
    await queueing.query(
      `INSERT INTO stop (id, stops_operation, reason) VALUES ($1, 'POST /payouts/airtime', 'x')`,
      [uuidv7()],
    );
    const queued = await queueing.enqueue();
    await queueing.query('UPDATE idempotency_claim SET intent_id = $1 WHERE key = $2', [queued, key]);
    const keyed = { id: executed, client_id: queueing.clientId, operation: 'POST /payouts/airtime', key };
    await prisma().$transaction((tx) => keepKeys(tx, [keyed]));
    expect(await queueing.isInQueue(queued)).toBe(false);
    const call = await queueing.read(queued);
    expect(call).toMatchObject({ outcome: 'not_sent', upstream: { failure: 'key_paid' } });
    const [claim] = await queueing.query(
      'SELECT intent_id::text AS id FROM idempotency_claim WHERE key = $1',
      [key],
    );
    expect(claim?.id).toBe(executed);
    await queueing.query('INSERT INTO stop_lift (stop_id) SELECT id FROM stop');
  });

  it('is in doubt and is not sent, whether the database has it or only the copies', async () => {
    await queueing.query(
      `INSERT INTO stop (id, stops_operation, reason) VALUES ($1, 'POST /payouts/airtime', 'x')`,
      [uuidv7()],
    );
    const kept = await queueing.enqueue();
    expect(await queueing.read(kept)).toMatchObject({ outcome: 'queued' });
    await restore();
    await restore();
    expect(await queueing.read(kept)).toMatchObject({ outcome: 'unknown', items: [{ state: 'in_doubt' }] });
    expect(await queueing.isInQueue(kept)).toBe(false);
    await queueing.query('INSERT INTO stop_lift (stop_id) SELECT id FROM stop ON CONFLICT DO NOTHING');
    const paid = await queueing.pay().set('Prefer', 'respond-async').expect(202);
    const id = paid.headers['x-call-id'] ?? '';
    await queueing.become(id, 'succeeded');
    expect(queueing.upstream.received).toHaveLength(1);
    await loseCalls(queueing.proxy.database, dataDir, id);
    const alone = copyAlone(dataDir, id, join(dataDir, 'alone'));
    const copies = join(alone, 'copies', '2026-11-24.jsonl');
    const lines = readFileSync(copies, 'utf8').split('\n');
    // The instance was killed before it was answered.
    writeFileSync(copies, lines.filter((line) => line.includes('"kind":"intent"')).join('\n'));
    await restore(alone);
    expect(await queueing.read(id)).toMatchObject({ outcome: 'unknown', recovered: true });
    await restore(dataDir);
    expect(await queueing.read(id)).toMatchObject({ outcome: 'succeeded' });
    expect(queueing.upstream.received).toHaveLength(1);
  });
});
