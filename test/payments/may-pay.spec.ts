import { INestApplicationContext } from '@nestjs/common';
import { FenceService } from '../../src/continuity/fence/fence.service';
import { LoadShedder } from '../../src/gateway/admission-control/load-shedder';
import { Overloaded } from '../../src/gateway/admission-control/overloaded';
import { UpstreamAccount } from '../../src/gateway/upstream/upstream-account';
import { StorageService } from '../../src/platform/storage/storage.service';
import { ProbeService } from '../../src/reconciliation/in-doubt/rounds/probe.service';
import supertest from '../support/http/supertest';
import { reset, succeed } from '../support/network/fake-upstream';
import { ApprovalScene, startApproving } from '../support/payments/approving';
import { airtime } from '../support/payments/paying';

/** Codes of all refusals, in the order of the checks. */
const IN_ORDER = [
  'instance_fenced',
  'storage_full',
  'overloaded',
  'stopped',
  'upstream_unreachable',
] as const;
type Code = (typeof IN_ORDER)[number];

/** Every path that sends money, or frees it by a decision, runs the same checks in the same order. */
describe('permission to pay', () => {
  let approving: ApprovalScene;
  let operator: string;
  let held: string;
  let inDoubt: string;
  let lift: Record<Code, () => unknown>;

  beforeAll(async () => {
    approving = await startApproving({ resolverProbeEmail: 'listing-probe@example.com' });
    operator = (await approving.proxy.client('operator', 'admin')).key;
    held = await approving.hold();
    approving.upstream.behaviour = reset;
    inDoubt = (await approving.pay('+254700000001').expect(502)).headers['x-call-id'] ?? '';
  });
  afterAll(() => approving.close());
  beforeEach(async () => {
    await approving.reset();
    lift = await setEverythingAgainst();
  });
  afterEach(async () => {
    for (const code of IN_ORDER) await lift[code]();
  });

  /** Makes every check fail. Returns one function per check that lifts it. */
  async function setEverythingAgainst(
    app: INestApplicationContext = approving.proxy.app,
  ): Promise<typeof lift> {
    const fence = app.get(FenceService);
    fence.raise('clock_skewed', 'The clock differs by 60 seconds.');
    const full = { place: 'data_dir', cause: 'disk_full', detail: 'The disk is full.' } as const;
    const space = jest.spyOn(app.get(StorageService), 'obstacle', 'get').mockReturnValue(full);
    const room = jest.spyOn(LoadShedder.prototype, 'requireRoom').mockImplementation(() => {
      throw new Overloaded(1);
    });
    const place = jest.spyOn(LoadShedder.prototype, 'enter').mockRejectedValue(new Overloaded(1));
    const circuit = jest.spyOn(UpstreamAccount.prototype, 'sendableInSeconds').mockReturnValue(5);
    const stops = () => supertest(approving.proxy.url);
    const { body } = await stops()
      .post('/v1/stops')
      .set('X-API-Key', operator)
      .send({ everything: true, reason: 'an incident' })
      .expect(201);
    let isStopped = true;
    return {
      instance_fenced: () => fence.lower('clock_skewed'),
      storage_full: () => space.mockRestore(),
      overloaded: () => [room, place].forEach((mock) => mock.mockRestore()),
      stopped: async () => {
        if (!isStopped) return;
        isStopped = false;
        await stops().delete(`/v1/stops/${body.id}`).set('X-API-Key', operator).expect(200);
      },
      upstream_unreachable: () => circuit.mockRestore(),
    };
  }

  const pay = () => approving.pay('+254700000002');
  const post = (path: '/payouts/initiate-credit', body: object) =>
    approving.proxy.post(approving.app, path, body);

  const preview = async (headers: Record<string, string> = {}, phoneNumber = '+254700000002') => {
    const request = supertest(approving.proxy.url)
      .post('/v1/preview/payouts/airtime')
      .set('X-API-Key', approving.app);
    return (await request.set(headers).send(airtime(phoneNumber)).expect(200)).body;
  };

  it.each<[string, () => PromiseLike<{ status: number; body: object }>]>([
    ['the first request', () => pay()],
    ['a request with an idempotency key', () => pay().set('Idempotency-Key', 'order-1')],
    [
      'a write',
      () =>
        post('/payouts/initiate-credit', {
          credits: [{ email: 'ada@example.com', twitter: '', valueInUSD: 1 }],
        }),
    ],
    ['an approval', () => approving.decide('approve', held)],
  ])('runs all checks in order for %s', async (_door, send) => {
    for (const code of IN_ORDER) {
      expect((await send()).body).toMatchObject({ code });
      await lift[code]();
    }
    expect(approving.upstream.received).toEqual([]);
    approving.upstream.behaviour = succeed;
    expect((await send()).status).toBe(200);
    expect(approving.upstream.received).toHaveLength(1);
  });

  it('shows the refusal in a preview, in the same order', async () => {
    await lift.overloaded(); // refuses the preview itself
    for (const code of IN_ORDER.filter((one) => one !== 'overloaded')) {
      expect(await preview()).toMatchObject({ would: 'be_refused', refusal: { code } });
      await lift[code]();
    }
    expect(await preview()).toMatchObject({ would: 'be_sent', refusal: null });
  });

  it('tells an approver that the call is still pending, and never to resend it', async () => {
    const waiting = await approving.hold();
    for (const code of IN_ORDER) {
      const { body } = await approving.decide('approve', waiting).expect(503);
      expect(body).toMatchObject({ code, detail: expect.stringContaining('the call is still pending') });
      expect(body.detail).not.toMatch(/send it again|send the request again|Idempotency-Key/i);
      await lift[code]();
    }
    expect(await approving.read(waiting)).toMatchObject({ outcome: 'pending_approval' });
  });

  it('runs all checks for a listing probe, and records the probe only once it is sent', async () => {
    for (const code of IN_ORDER) await lift[code]();
    const worker = await approving.proxy.startWorker();
    lift = await setEverythingAgainst(worker);
    await lift.overloaded(); // a worker has no gate
    const probes = () =>
      approving.query(
        `SELECT 1 FROM intent i JOIN client c ON c.id = i.client_id WHERE c.name = 'listing-probe'`,
      );
    for (const code of IN_ORDER) {
      await worker.get(ProbeService).sendAfter('main', new Date());
      expect([code, approving.upstream.received.length, await probes()]).toEqual([code, 0, []]);
      await lift[code]();
    }
    await worker.get(ProbeService).sendAfter('main', new Date());
    expect([approving.upstream.received.length, (await probes()).length]).toEqual([1, 1]);
  });

  it('checks only space, capacity and the circuit for a read', async () => {
    const read = () => approving.proxy.get(approving.app, '/api/v0.1/wallets/list');
    for (const code of ['storage_full', 'overloaded', 'upstream_unreachable'] as const) {
      const { body } = await read().expect(503);
      expect(body).toMatchObject({ code, error: expect.not.stringContaining('Idempotency-Key') });
      await lift[code]();
    }
    await read().expect(200);
  });

  it.each([
    ['a rejection', () => approving.decide('reject', held)],
    [
      'a settlement by hand',
      () =>
        supertest(approving.proxy.url)
          .post(`/v1/calls/${inDoubt}/resolution`)
          .set('X-API-Key', approving.approver.key)
          .send({ outcome: 'not_executed', reason: 'the provider has nothing of it' }),
    ],
  ])('checks only the fence for %s', async (_act, decide) => {
    if ((await approving.read(held)).outcome !== 'pending_approval') held = await approving.hold();
    expect((await decide()).body).toMatchObject({ code: 'instance_fenced' });
    lift.instance_fenced();
    expect((await decide()).status).toBe(200);
  });

  it('replays an answer despite full storage, stops and circuits, but not while fenced', async () => {
    for (const code of IN_ORDER) await lift[code]();
    const repeat = () => approving.pay('+254700000003').set('Idempotency-Key', 'order-3');
    await repeat().expect(200);
    lift = await setEverythingAgainst();
    await lift.overloaded();
    await repeat().expect(503, /instance_fenced/);
    const previewed = () => preview({ 'Idempotency-Key': 'order-3' }, '+254700000003');
    expect(await previewed()).toMatchObject({
      would: 'be_refused',
      refusal: { code: 'instance_fenced' },
      replay: null,
    });
    lift.instance_fenced();
    expect(await previewed()).toMatchObject({ would: 'be_replayed', refusal: null });
    await repeat().expect(200).expect('Idempotent-Replayed', 'true');
    expect(approving.upstream.received).toHaveLength(1);
  });

  it('repeats the checks before it decides a held call', async () => {
    for (const code of IN_ORDER) await lift[code]();
    const waiting = await approving.hold();
    const fence = approving.proxy.app.get(FenceService);
    const circuit = jest.spyOn(UpstreamAccount.prototype, 'sendableInSeconds').mockImplementation(() => {
      fence.raise('clock_skewed', 'The clock differs by 60 seconds.');
      return null;
    });
    expect((await approving.decide('approve', waiting)).body).toMatchObject({ code: 'instance_fenced' });
    circuit.mockRestore();
    expect(await approving.read(waiting)).toMatchObject({ outcome: 'pending_approval' });
  });
});
