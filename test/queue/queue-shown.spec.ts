import { v7 as uuidv7 } from 'uuid';
import supertest, { type BodyOf } from '../support/http/supertest';
import { eventually } from '../support/payments/paying';
import { QueueScene, startQueueing } from '../support/queue/queueing';

describe('the length of the queue', () => {
  let queueing: QueueScene;

  beforeAll(async () => (queueing = await startQueueing()));
  afterAll(() => queueing.close());

  const overview = async () =>
    (await queueing.proxy.get(queueing.auditor, '/v1/overview').expect(200)).body.queue;

  /** Waits until the cached overview shows these calls, which two statements count. */
  async function shown(
    calls: number,
    released: number,
  ): Promise<NonNullable<BodyOf<'get', '/v1/overview'>['queue']>> {
    let queue = await overview();
    await eventually(async () => {
      queue = await overview();
      return queue?.calls === calls && queue.released_last_minute === released;
    });
    return queue!;
  }

  async function metrics(): Promise<Record<string, number>> {
    const { text } = await supertest(queueing.proxy.url).get('/metrics').expect(200);
    const figures = text.matchAll(/^payout_proxy_(queued_calls|queue_oldest_age_seconds) (.+)$/gm);
    return Object.fromEntries(
      [...figures].map(([, name = '', value]): [string, number] => [name, Number(value)]),
    );
  }

  it('is in the overview and the metrics, with the age of the oldest call and the pace', async () => {
    expect(await overview()).toEqual({ calls: 0, oldest_since: null, released_last_minute: 0 });
    expect(await metrics()).toEqual({ queued_calls: 0, queue_oldest_age_seconds: 0 });
    const stop = uuidv7();
    await queueing.query(`INSERT INTO stop (id, reason) VALUES ($1, 'x')`, [stop]);
    const begun = Date.now();
    for (let calls = 0; calls < 3; calls += 1) await queueing.enqueue();
    const queue = await shown(3, 0);
    expect(queue.oldest_since).toEqual(expect.any(String));
    expect(Date.parse(queue.oldest_since ?? '')).toBeGreaterThanOrEqual(begun);
    const { queued_calls: calls, queue_oldest_age_seconds: age } = await metrics();
    expect(calls).toBe(3);
    expect(age).toBeGreaterThan(0);
    await queueing.query('INSERT INTO stop_lift (stop_id) VALUES ($1)', [stop]);
    expect((await shown(0, 3)).oldest_since).toBeNull();
  });
});
