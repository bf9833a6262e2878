import { INestApplicationContext } from '@nestjs/common';
import { FenceService } from '../../../src/continuity/fence/fence.service';
import { newId } from '../../../src/platform/database/ids';
import { BookService } from '../../../src/reconciliation/book/book.service';
import { FollowUpService } from '../../../src/reconciliation/following/follow-up.service';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import { ReadBackService } from '../../../src/reconciliation/in-doubt/rounds/resolver.job';
import { ResolverService } from '../../../src/reconciliation/in-doubt/rounds/resolver.service';
import { SourcesService } from '../../../src/reconciliation/sources/sources.service';
import supertest from '../../support/http/supertest';
import { eventually } from '../../support/payments/paying';
import { startProxyWithSandbox } from '../../support/processes/proxy';
import { askSandbox } from '../../support/sandbox/sandbox-answers';

describe('a requested round of the resolver', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let worker: INestApplicationContext;
  let app: string;
  let reconciler: string;

  beforeAll(async () => {
    proxy = await startProxyWithSandbox({ checkCoverage: false });
    app = (await proxy.client('app', 'pay')).key;
    reconciler = (await proxy.client('reconciler', 'reconcile')).key;
  });
  afterAll(() => proxy.close());

  const tasks = () => proxy.database.query('SELECT kind FROM worker_task');
  const ask = () =>
    supertest(proxy.url).post('/v1/reconciliation/resolver/rounds').set('X-API-Key', reconciler);
  /** @returns the ID of a call in doubt, by default a paid one. */
  const lose = async (email: string, how: object = { fault: 'resetAfterProcessing' }) => {
    const fault = { ...how, operation: 'POST /payouts/credit', nth: 1 };
    const control = askSandbox(proxy.sandbox.url).post('/_sandbox/faults');
    await control.set('X-Sandbox-Control-Key', 'sandbox-control').send(fault).expect(201);
    const { headers } = await proxy
      .post(app, '/payouts/credit', { credits: [{ email, valueInUSD: 0.25 }] })
      .expect(502);
    return headers['x-call-id'] ?? '';
  };

  it('is refused without a worker, and leaves no task', async () => {
    const { body, headers } = await ask().expect(503);
    expect([body.code, body.action, headers['retry-after']]).toEqual(['no_worker', 'retry_same_key', '10']);
    expect(await tasks()).toEqual([]);
  });

  it('runs once for all concurrent requests', async () => {
    const id = await lose('concurrent@example.com');
    worker = await proxy.startWorker();
    const polls = jest.spyOn(worker.get(PollService), 'poll');
    const rounds = await Promise.all(Array.from({ length: 8 }, () => ask().expect(200)));
    expect(rounds.flatMap(({ body }) => body.verdicts.map(({ call_id }) => call_id))).toContain(id);
    expect(polls.mock.calls.length).toBeLessThan(8);
    expect(await tasks()).toEqual([]);
  });

  it('judges nothing while its worker is fenced', async () => {
    const id = await lose('fenced@example.com');
    const fence = worker.get(FenceService);
    fence.raise('clock_skewed', 'The clock differs by 60 seconds.');
    const event = newId();
    await proxy.database.query(
      "INSERT INTO upstream_event (id, event_id, signed_at) VALUES ($1, 'event-1', now())",
      [event],
    );
    await proxy.database.query("INSERT INTO worker_task (id, kind) VALUES ($1, 'read_back')", [event]);
    expect((await ask().expect(200)).body).toMatchObject({ polled: 0, failure: 'fenced', verdicts: [] });
    expect(await worker.get(FollowUpService).runOnce()).toMatchObject({
      readId: null,
      failure: 'fenced',
      settled: 0,
    });
    await worker.get(ReadBackService).run(new AbortController().signal, () => undefined);
    expect(await tasks()).toEqual([{ kind: 'read_back' }]); // the event stays queued
    fence.lower('clock_skewed');
    await eventually(async () => {
      await worker.get(ReadBackService).run(new AbortController().signal, () => undefined);
      return (await tasks()).length === 0;
    });
    expect((await ask().expect(200)).body.verdicts.map(({ call_id }) => call_id)).toContain(id);
  });

  it('settles nothing if its worker is fenced while it reads', async () => {
    const id = await lose('fenced.later@example.com');
    const [fence, sources] = [worker.get(FenceService), worker.get(SourcesService)];
    const read = sources.transactions.bind(sources);
    jest.spyOn(sources, 'transactions').mockImplementation(async (...asked) => {
      const result = await read(...asked);
      fence.raise('clock_skewed', 'The clock differs by 60 seconds.');
      return result;
    });
    for (const service of [worker.get(ResolverService), worker.get(FollowUpService)]) {
      await expect(service.runOnce()).rejects.toMatchObject({ code: 'instance_fenced' });
      fence.lower('clock_skewed');
    }
    jest.restoreAllMocks();
    expect(await proxy.database.query('SELECT 1 FROM settlement WHERE intent_id = $1', [id])).toEqual([]);
    expect((await ask().expect(200)).body.verdicts.map(({ call_id }) => call_id)).toContain(id);
  });

  it('settles nothing more if its worker is fenced while it settles', async () => {
    const id = await lose('fenced.unpaid@example.com', { fault: 'error502Html', processed: false });
    const credits = [{ email: 'fenced.paid@example.com', valueInUSD: 0.25 }];
    await proxy.post(app, '/payouts/credit', { credits }).expect(200); // shows that the listing is current
    worker.get(PollService).rules.quietMs = 0;
    const [fence, book] = [worker.get(FenceService), worker.get(BookService)];
    const enter = book.enterWith.bind(book);
    jest.spyOn(book, 'enterWith').mockImplementation(async (...asked) => {
      const entered = await enter(...asked);
      fence.raise('clock_skewed', 'The clock differs by 60 seconds.');
      return entered;
    });
    for (const service of [worker.get(ResolverService), worker.get(FollowUpService)]) {
      await expect(service.runOnce()).rejects.toMatchObject({ code: 'instance_fenced' });
      fence.lower('clock_skewed');
    }
    jest.restoreAllMocks();
    expect(await proxy.database.query('SELECT 1 FROM settlement WHERE intent_id = $1', [id])).toEqual([]);
    const { body } = await ask().expect(200);
    expect(body.verdicts).toContainEqual(expect.objectContaining({ call_id: id, verdict: 'not_executed' }));
  });

  it('passes to the next worker if the first ends before it has begun', async () => {
    const id = await lose('somebody.else@example.com');
    await worker.close();
    const asked = ask().expect(200).then();
    await eventually(async () => (await tasks()).length > 0);
    await proxy.startWorker();
    expect((await asked).body).toMatchObject({
      failure: null,
      verdicts: [{ call_id: id, verdict: 'confirmed' }],
    });
    expect(await tasks()).toEqual([]);
  });
});
