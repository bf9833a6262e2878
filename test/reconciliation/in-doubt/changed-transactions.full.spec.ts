import { INestApplicationContext } from '@nestjs/common';
import { FollowUpService } from '../../../src/reconciliation/following/follow-up.service';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import { ResolverService } from '../../../src/reconciliation/in-doubt/rounds/resolver.service';
import { Sandbox } from '../../../src/sandbox/app';
import { first } from '../../support/examples/first';
import { startProxyWithSandbox, TestProxy } from '../../support/processes/proxy';
import { askSandbox, dataIn } from '../../support/sandbox/sandbox-answers';

/** An answer of the upstream, and whether it carried the change out. */
type Lie = { fault: string; processed?: boolean } | null;

const HONEST: Lie = null;
const LOST_AFTER: Lie = { fault: 'resetAfterProcessing' };
const LOST_BEFORE: Lie = { fault: 'resetBeforeProcessing' };
const ERROR_AFTER: Lie = { fault: 'error500AfterProcessing' };
const REJECTED_AFTER: Lie = { fault: 'tooManyRequests', processed: true };
const REJECTED: Lie = { fault: 'tooManyRequests' };

const CHANGES = {
  redemption: { makes: '/payouts/credit', path: '/redeem/airtime' },
  deletion: { makes: '/payouts/initiate-credit', path: '/account/delete-unpaid-transaction' },
} as const;
type ChangeName = keyof typeof CHANGES;

describe('calls that change one transaction', () => {
  let proxy: TestProxy & { sandbox: Sandbox };
  let worker: INestApplicationContext;
  let key: string;
  let count = 0;

  beforeAll(async () => {
    proxy = await startProxyWithSandbox({ upstreamTimeoutMs: 3_000 });
    worker = await proxy.startWorker();
    ({ key } = await proxy.client('app', 'pay', 'write', 'read', 'account'));
    Object.assign(worker.get(PollService).rules, { quietMs: 0, rejectedQuietMs: 0 });
  });
  afterAll(() => proxy.close());

  const credit = () => ({ credits: [{ email: `person.${(count += 1)}@example.com`, valueInUSD: 0.25 }] });
  const make = async (path: '/payouts/credit' | '/payouts/initiate-credit') => {
    const answer = await proxy.post(key, path, credit()).expect(200);
    const { chiRef } = first(dataIn(`POST ${path}`, answer).data);
    return { chiRef, callId: answer.headers['x-call-id'] ?? '' };
  };
  const control = (path: string) =>
    askSandbox(proxy.sandbox.url).post(`/_sandbox${path}`).set('X-Sandbox-Control-Key', 'sandbox-control');
  const change = async (
    name: ChangeName,
    chiRef: string,
    lie: Lie,
    to = '+254712345678',
  ): Promise<string> => {
    const { path } = CHANGES[name];
    if (lie)
      await control('/faults')
        .send({ ...lie, operation: `POST ${path}`, nth: 1 })
        .expect(201);
    const more = name === 'redemption' ? { phoneNumber: to, countryToSend: 'Kenya' } : {};
    const { headers } = await proxy.post(key, path, { chiRef, ...more });
    return headers['x-call-id'] ?? '';
  };
  /** Outcomes after rounds of the resolver, with later calls of each kind. */
  const settled = async (ids: string[]) => {
    for (const { makes } of Object.values(CHANGES)) await make(makes);
    await worker.get(ResolverService).runOnce();
    await worker.get(ResolverService).runOnce();
    const calls = ids.map((id) => proxy.get(key, `/v1/calls/${id}`).expect(200));
    return (await Promise.all(calls)).map(({ body }) => body.outcome);
  };

  const payout = async (id: string) => (await proxy.get(key, `/v1/payouts/${id}`).expect(200)).body;

  it.each<[string, Lie]>([
    ['answered', HONEST],
    ['lost', LOST_AFTER],
    ['rejected falsely', REJECTED_AFTER],
  ])('end the payout of a deleted link, if the deletion is %s', async (_what, lie) => {
    const { chiRef, callId } = await make('/payouts/initiate-credit');
    await worker.get(FollowUpService).runOnce();
    expect(await payout(callId)).toMatchObject({ state: 'pending', next: 'wait' });
    const deletion = await change('deletion', chiRef, lie);
    await worker.get(ResolverService).runOnce();
    await worker.get(FollowUpService).runOnce();
    const reason = `Call ${deletion} deleted the transaction of this payout.`;
    expect(await payout(callId)).toMatchObject({ state: 'failed', next: 'send_again', reason });
    expect((await worker.get(FollowUpService).runOnce()).settled).toBe(0);
  });

  it('end the payout of a deleted link whose answer named no transaction', async () => {
    const body = { credit: [{ email: 'ada@example.com', valueInUSD: 0.5 }], description: 'Sample' };
    const answer = await proxy.post(key, '/send', body).expect(200);
    await worker.get(FollowUpService).runOnce();
    const sql = 'SELECT upstream_ref FROM book_transaction WHERE call_id = $1';
    const [link] = await proxy.database.query<{ upstream_ref: string }>(sql, [answer.headers['x-call-id']]);
    await change('deletion', link?.upstream_ref ?? '', ERROR_AFTER);
    await worker.get(ResolverService).runOnce();
    await worker.get(FollowUpService).runOnce();
    expect(await payout(answer.headers['x-call-id'] ?? '')).toMatchObject({ state: 'failed' });
  });

  it('leave the payout of a link pending if the deletion was not executed', async () => {
    const { chiRef, callId } = await make('/payouts/initiate-credit');
    expect(await settled([await change('deletion', chiRef, LOST_BEFORE)])).toEqual(['not_executed']);
    await worker.get(FollowUpService).runOnce();
    expect(await payout(callId)).toMatchObject({ state: 'pending' });
  });

  it('wait for a person after two lost redemptions for different recipients', async () => {
    const { chiRef } = await make('/payouts/credit');
    const ids = [
      await change('redemption', chiRef, LOST_BEFORE),
      await change('redemption', chiRef, LOST_AFTER, '+254787654321'),
    ];
    expect(await settled(ids)).toEqual(['unknown', 'unknown']);
  });

  it.each<[string, Lie, Lie, string[]]>([
    ['deleted', LOST_AFTER, LOST_BEFORE, ['confirmed', 'not_executed']],
    ['unchanged', LOST_BEFORE, LOST_BEFORE, ['not_executed', 'not_executed']],
  ])('are settled after a lost deletion and a lost redemption: %s', async (_what, one, other, expected) => {
    const { chiRef } = await make('/payouts/initiate-credit');
    const ids = [await change('deletion', chiRef, one), await change('redemption', chiRef, other)];
    expect(await settled(ids)).toEqual(expected);
  });

  it('are settled after a lost redemption and a lost deletion', async () => {
    const { chiRef } = await make('/payouts/credit');
    const ids = [
      await change('redemption', chiRef, LOST_AFTER),
      await change('deletion', chiRef, LOST_BEFORE),
    ];
    expect(await settled(ids)).toEqual(['confirmed', 'not_executed']);
  });

  describe.each(Object.keys(CHANGES) as ChangeName[])('a %s', (name) => {
    const made = () => make(CHANGES[name].makes);

    it.each<[string, Lie, string]>([
      ['executed and not answered', LOST_AFTER, 'confirmed'],
      ['executed and answered with a 500', ERROR_AFTER, 'confirmed'],
      ['executed and rejected', REJECTED_AFTER, 'confirmed'],
      ['not executed and not answered', LOST_BEFORE, 'not_executed'],
      ['rejected', REJECTED, 'not_executed'],
    ])('%s is settled by its transaction', async (_what, lie, expected) => {
      const { chiRef } = await made();
      expect(await settled([await change(name, chiRef, lie)])).toEqual([expected]);
    });

    it.each<[string, Lie, Lie, string[]]>([
      ['after a success', HONEST, HONEST, ['succeeded', 'not_executed']],
      ['after a lost answer', LOST_AFTER, HONEST, ['confirmed', 'not_executed']],
      ['after a false rejection', REJECTED_AFTER, HONEST, ['confirmed', 'not_executed']],
      ['after a true rejection, with a lost answer', REJECTED, LOST_AFTER, ['not_executed', 'confirmed']],
      ['after a true rejection', REJECTED, HONEST, ['not_executed', 'succeeded']],
      ['with two lost answers', LOST_AFTER, LOST_BEFORE, ['confirmed', 'not_executed']],
      ['with two lost answers, of the second one', LOST_BEFORE, LOST_AFTER, ['confirmed', 'not_executed']],
    ])('repeated %s is executed once', async (_what, one, other, expected) => {
      const { chiRef } = await made();
      const ids = [await change(name, chiRef, one), await change(name, chiRef, other)];
      expect(await settled(ids)).toEqual(expected);
    });
  });
});
