import { INestApplicationContext } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { admit } from '../../src/journal/admission/admissions';
import { CallJournal } from '../../src/journal/call-journal';
import { PrismaService } from '../../src/platform/database/pools/prisma.service';
import { ResolverService } from '../../src/reconciliation/in-doubt/rounds/resolver.service';
import { rulesOf, withId } from '../support/payments/guard-windows';
import { airtime, eventually, PaymentScene, phones, startPaying } from '../support/payments/paying';

/** Promise 3, part: a call that was refused, and was never sent, does not use up a cap. */
describe('the reservation of a refused call after a crash', () => {
  let paying: PaymentScene;
  let worker: INestApplicationContext;
  let clients = 0;

  beforeAll(async () => {
    paying = await startPaying();
    worker = await paying.proxy.startWorker();
  });
  afterAll(() => paying.close());
  afterEach(() => jest.restoreAllMocks());

  const numbers = phones(100).values();
  const prisma = () => paying.proxy.app.get(PrismaService);
  const journal = () => paying.proxy.app.get(CallJournal, { strict: false });
  const spentBy = async (id: string) =>
    (
      await paying.proxy.database.query<{ usd: number }>(
        'SELECT usd::float8 AS usd FROM spending WHERE client_id = $1',
        [id],
      )
    )[0]?.usd;
  const settlementsOf = (id: string) =>
    paying.proxy.database.query(
      "SELECT record::json -> 'entries' -> 0 ->> 'entry' AS entry FROM settlement WHERE intent_id = $1",
      [id],
    );

  /** Admits a call of 2.5 US dollars whose app is told that the database is not available. */
  async function admittedAndRefused() {
    const client = await paying.proxy.client(`app-${(clients += 1)}`, 'pay');
    const admitting = jest.spyOn(journal(), 'admit');
    await paying.proxy.post(client.key, '/payouts/airtime', airtime(numbers.next().value ?? '')).expect(200);
    const admission = withId(admitting.mock.calls[0]![0], uuidv7());
    admission.request.content = admission.request.id;
    expect((await admit(prisma(), 1, [admission], rulesOf(paying.proxy.app), false)).results).toMatchObject([
      { kind: 'released' },
    ]);
    const { intent } = admission;
    const why = { status: 503, code: 'database_unavailable', detail: 'Too slow.', firstCallId: null };
    return {
      client,
      callId: intent.id,
      refusal: { ...intent, ...why, idempotencyKey: null, faults: [], faultsTotal: 0 },
    };
  }

  /** Ends the refusing process after the commit of the refusal. */
  async function refuseAndDie({ refusal }: Awaited<ReturnType<typeof admittedAndRefused>>) {
    const dying = jest.spyOn(prisma(), '$transaction').mockRejectedValue(new Error('killed'));
    await expect(journal().refusals.record(refusal)).rejects.toThrow('killed');
    dying.mockRestore();
  }

  it('is released once by the next resolver round', async () => {
    const call = await admittedAndRefused();
    await refuseAndDie(call);
    expect(await spentBy(call.client.id)).toBe(5);
    const resolver = worker.get(ResolverService);
    await Promise.all([resolver.runOnce(), eventually(async () => (await spentBy(call.client.id)) === 2.5)]);
    await resolver.runOnce();
    expect(await spentBy(call.client.id)).toBe(2.5);
    expect(await settlementsOf(call.callId)).toEqual([{ entry: 'not_executed' }]);
  });

  it('is released by a worker that starts later', async () => {
    const call = await admittedAndRefused();
    await refuseAndDie(call);
    const later = await paying.proxy.startWorker();
    await later.get(ResolverService).runOnce();
    expect(await spentBy(call.client.id)).toBe(2.5);
  });

  it('is released once by its live process and the resolver together', async () => {
    const call = await admittedAndRefused();
    await refuseAndDie(call);
    const resolver = worker.get(ResolverService);
    await Promise.all([
      journal().refusals.record(call.refusal),
      resolver.runOnce(),
      journal().refusals.record(call.refusal),
    ]);
    await resolver.runOnce();
    expect(await spentBy(call.client.id)).toBe(2.5);
    expect(await settlementsOf(call.callId)).toEqual([{ entry: 'not_executed' }]);
  });
});
