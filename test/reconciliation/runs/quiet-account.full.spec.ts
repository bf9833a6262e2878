import { INestApplicationContext } from '@nestjs/common';
import { UpstreamService } from '../../../src/gateway/upstream/upstream.service';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import { ResolverService } from '../../../src/reconciliation/in-doubt/rounds/resolver.service';
import type { Method } from '../../support/http/request';
import supertest from '../../support/http/supertest';
import { startProxyWithSandbox, UPSTREAM_KEY } from '../../support/processes/proxy';
import { askSandbox, dataIn } from '../../support/sandbox/sandbox-answers';

const CONTROL = { 'X-Sandbox-Control-Key': 'sandbox-control' };
const AIRTIME = 'POST /payouts/airtime';
const PHONE = '+254712345678';
const PROBE_EMAIL = 'listing-probe@example.com';

/** At night, no other calls of apps show how current the listing is. */
describe('the resolver of an account without traffic', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let worker: INestApplicationContext;
  let app: string;
  let auditor: string;
  let operator: string;

  const start = async (settings: Parameters<typeof startProxyWithSandbox>[0] = {}) => {
    proxy = await startProxyWithSandbox({
      checkCoverage: false,
      duplicateGuard: false,
      resolverProbeEmail: PROBE_EMAIL,
      ...settings,
    });
    worker = await proxy.startWorker();
    // Everything happens within one second, so times prove nothing.
    Object.assign(worker.get(PollService).rules, { quietMs: 0, rejectedQuietMs: 0, skewMs: 0 });
    app = (await proxy.client('app', 'pay', 'write', 'read')).key;
    auditor = (await proxy.client('auditor', 'audit')).key;
    operator = (await proxy.client('operator', 'admin')).key;
    await link().expect(200); // shows how far back the listing reaches
  };
  afterEach(() => proxy.close());

  const control = <Verb extends Method, const Path extends string>(method: Verb, path: Path, body?: object) =>
    askSandbox(proxy.sandbox.url)[method](`/_sandbox${path}`).set(CONTROL).send(body);
  const behave = (patch: object) => control('patch', '/settings', patch).expect(200);
  const fault = (name: string, operation: string, more: object = {}) =>
    control('post', '/faults', { fault: name, operation, nth: 1, ...more }).expect(201);
  const pay = ({ to = PHONE, usd = 2 } = {}) =>
    proxy.post(app, '/payouts/airtime', {
      airtimes: [{ countryToSend: 'Kenya', phoneNumber: to, valueInUSD: usd }],
    });
  const link = () =>
    proxy.post(app, '/payouts/initiate-credit', {
      credits: [{ email: 'ada@example.com', twitter: '', valueInUSD: 1 }],
    });
  const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'] ?? '';
  const round = () => worker.get(ResolverService).runOnce();
  const callOf = async (id: string) => (await proxy.get(auditor, `/v1/audit/calls/${id}`).expect(200)).body;
  /** Result of a round for a call: its outcome, or the reason for its doubt. */
  const settle = async (id: string) => {
    await round();
    const { outcome, doubt } = await callOf(id);
    return doubt?.reason ?? outcome;
  };
  const listed = async () =>
    dataIn(
      'POST /account/transactions',
      await askSandbox(proxy.sandbox.url)
        .post('/api/v0.1/account/transactions')
        .set('X-API-Key', UPSTREAM_KEY),
    );
  /** Calls of probes, oldest first. */
  const probes = async () => {
    const { body } = await proxy.get(auditor, '/v1/audit/calls?client=listing-probe').expect(200);
    return body.calls.map(({ operation, outcome }) => `${operation} ${outcome}`).toReversed();
  };
  /** Readings cited as evidence by a call's settlement. */
  const readsOf = async (id: string) => {
    const rows = await proxy.database.query(
      `SELECT r.source FROM settlement s, json_array_elements_text(s.record::json -> 'reads') AS e(id)
       JOIN source_read r ON r.id = e.id::uuid WHERE s.intent_id = $1 ORDER BY 1`,
      [id],
    );
    return rows.map(({ source }) => source);
  };
  const CREATED = 'POST /payouts/initiate-credit succeeded';
  const DELETED = 'POST /account/delete-unpaid-transaction succeeded';

  it('settles a payout without a transaction as not executed, by a probe and the wallets', async () => {
    await start();
    await fault('resetBeforeProcessing', AIRTIME);
    const id = idOf(await pay().expect(502));
    expect(await settle(id)).toBe('not_executed');
    expect(await probes()).toEqual([CREATED, DELETED]);
    expect((await listed()).filter(({ email }) => email === PROBE_EMAIL)).toEqual([]);
    expect((await callOf(id)).settlements).toMatchObject([
      {
        source: 'resolver',
        reason: expect.stringContaining('nothing was paid from them since before the call'),
      },
    ]);
    expect(await readsOf(id)).toEqual(['transactions', 'wallets']);
    await pay().expect(200);
    expect((await listed()).filter(({ phoneNumber }) => phoneNumber === PHONE)).toHaveLength(1);
  });

  it('never settles a late-listed payout as not executed', async () => {
    await start();
    await behave({ listedAfterMs: { airtime: 600_000 } });
    await fault('resetAfterProcessing', AIRTIME);
    const id = idOf(await pay().expect(502));
    expect(await settle(id)).toContain('does not yet show another airtime call of ours');
    await behave({ listedAfterMs: { airtime: 0 } });
    expect(await settle(id)).toBe('confirmed');
  });

  it('leaves a payout in doubt while its probe is not listed, and keeps the probe until then', async () => {
    await start();
    await pay({ to: '+254712345001' }).expect(200);
    await behave({ listedAfterMs: { credit: 600_000 } });
    await fault('resetBeforeProcessing', AIRTIME);
    const id = idOf(await pay().expect(502));
    expect(await settle(id)).toContain('does not yet show a call of ours from after the quiet period');
    expect(await settle(id)).toContain('does not yet show a call of ours from after the quiet period');
    expect(await probes()).toEqual([CREATED]);
    await behave({ listedAfterMs: { credit: 0 } });
    expect(await settle(id)).toBe('not_executed');
    expect(await probes()).toEqual([CREATED, DELETED]);
  });

  it.each(['tooManyRequests', 'unauthorized', 'forbidden'])(
    'settles a call after %s without a probe, a later call or the wallets',
    async (name) => {
      await start();
      worker.get(PollService).rules.quietMs = 3_600_000; // the short quiet period applies
      await fault(name, AIRTIME);
      const id = idOf(await pay());
      expect(await settle(id)).toBe('not_executed');
      expect([await probes(), await readsOf(id)]).toEqual([[], ['transactions']]);
    },
  );

  it('settles a payout after a 500 only after the full quiet period', async () => {
    await start();
    worker.get(PollService).rules.quietMs = 3_600_000;
    await fault('error500', AIRTIME);
    const id = idOf(await pay().expect(500));
    await pay({ to: '+254712345001' }).expect(200);
    expect(await settle(id)).toBe('unknown');
    worker.get(PollService).rules.quietMs = 0;
    await pay({ to: '+254712345002' }).expect(200);
    expect(await settle(id)).toBe('not_executed');
    expect(await probes()).toEqual([]);
  });

  it('ignores wallets that lack a later payment of ours', async () => {
    await start({ payoutWallets: new Map([[AIRTIME, 'airtime']]) });
    await behave({ listedAfterMs: { airtime: 600_000 }, lists: { entries: { frozenAt: 'now' } } });
    await fault('resetAfterProcessing', AIRTIME);
    const id = idOf(await pay().expect(502));
    await proxy
      .post(app, '/payouts/credit', { credits: [{ email: 'ada@example.com', valueInUSD: 1 }] })
      .expect(200);
    expect(await settle(id)).toContain('The wallets do not prove that nothing was paid');
  });

  it('reads only the configured wallet of the operation', async () => {
    await start({ payoutWallets: new Map([[AIRTIME, 'airtime']]) });
    await fault('resetBeforeProcessing', AIRTIME);
    const id = idOf(await pay().expect(502));
    await proxy
      .post(app, '/payouts/credit', { credits: [{ email: 'ada@example.com', valueInUSD: 1 }] })
      .expect(200);
    expect(await settle(id)).toBe('not_executed');
    expect(await probes()).toEqual([]); // the credit shows that the listing is current
  });

  it('creates no probe without an address', async () => {
    await start({ resolverProbeEmail: undefined } as object);
    await fault('resetBeforeProcessing', AIRTIME);
    const id = idOf(await pay().expect(502));
    expect(await settle(id)).toContain('does not yet show a call of ours from after the quiet period');
    expect(await probes()).toEqual([]);
    await link().expect(200);
    expect(await settle(id)).toBe('not_executed');
  });

  it('creates another probe for a call whose quiet period ended after the first', async () => {
    await start();
    await fault('resetBeforeProcessing', AIRTIME);
    const first = idOf(await pay().expect(502));
    expect(await settle(first)).toBe('not_executed');
    await fault('resetBeforeProcessing', AIRTIME);
    const second = idOf(await pay().expect(502));
    expect(await settle(second)).toBe('not_executed');
    expect(await probes()).toEqual([CREATED, DELETED, CREATED, DELETED]);
  });

  it('sends no probe while a stop is in effect', async () => {
    await start();
    await fault('resetBeforeProcessing', AIRTIME);
    const id = idOf(await pay().expect(502));
    const stop = supertest(proxy.url).post('/v1/stops').set('X-API-Key', operator);
    await stop.send({ everything: true, reason: 'an incident' }).expect(201);
    expect(await settle(id)).toContain('does not yet show a call of ours');
    expect(await probes()).toEqual([]);
  });

  it('waits if the upstream rejects the probe', async () => {
    await start();
    await fault('resetBeforeProcessing', AIRTIME);
    const id = idOf(await pay().expect(502));
    await fault('unauthorized', 'POST /payouts/initiate-credit');
    expect(await settle(id)).toContain('does not yet show a call of ours');
    expect(await settle(id)).toBe('not_executed');
  });

  it('does not send a stale probe, because its call may have been settled since', async () => {
    await start();
    await fault('resetBeforeProcessing', AIRTIME);
    const id = idOf(await pay().expect(502));
    const upstream = worker.get(UpstreamService).of('main');
    const send = upstream.send.bind(upstream);
    jest.spyOn(upstream, 'send').mockImplementation((outgoing, ...rest) => {
      const monotonic = performance.now.bind(performance);
      if (outgoing.effect !== 'read')
        jest.spyOn(performance, 'now').mockImplementation(() => monotonic() + 3_600_000);
      return send(outgoing, ...rest);
    });
    expect(await settle(id)).toContain('does not yet show a call of ours');
    jest.restoreAllMocks();
    expect(await probes()).toEqual(['POST /payouts/initiate-credit not_sent']);
    expect(await listed()).toHaveLength(1);
  });

  it('gives the client of probes no valid key, and records its creation', async () => {
    await start();
    await fault('resetBeforeProcessing', AIRTIME);
    await settle(idOf(await pay().expect(502)));
    const acts = await proxy.database.query(
      "SELECT action FROM activity WHERE target_client = 'listing-probe' ORDER BY id",
    );
    expect(acts.map(({ action }) => action)).toEqual(['client_created', 'key_issued', 'key_revoked']);
  });
});
