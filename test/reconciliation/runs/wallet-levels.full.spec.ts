import { Logger } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { MetricsService } from '../../../src/http/metrics/metrics.service';
import { WalletsJob, runwayOf } from '../../../src/reconciliation/wallets/wallets.job';
import { answer, FakeUpstream } from '../../support/network/fake-upstream';
import { startProxy, TestProxy } from '../../support/processes/proxy';

describe('the wallet balances', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let job: WalletsJob;
  let metrics: MetricsService;
  let operator: string;
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  const log = jest.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    const walletLowBalanceUsd = new Map([
      ['airtime', '100'],
      ['w-3', '5'],
    ]);
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, walletLowBalanceUsd });
    operator = (await proxy.client('operator', 'admin')).key;
    const worker = await proxy.startWorker();
    job = worker.get(WalletsJob, { strict: false });
    metrics = worker.get(MetricsService, { strict: false });
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
    jest.restoreAllMocks();
  });
  beforeEach(() => jest.clearAllMocks());

  const entries = [
    { amount: -1, balanceBefore: 2, newBalance: 1, description: 'x', meta: { date: 1_700_000_000_000 } },
  ];
  /** Reads the wallets once, with these balances. */
  async function read(airtime: number, momo: number | string): Promise<void> {
    const wallets = [
      { id: 'w-1', type: 'airtime', balance: airtime, transactions: entries },
      { id: 'w-2', type: 'momo', balance: momo },
      { id: 'w-3', type: 'chi', balance: 4 },
    ];
    upstream.behaviour = answer(200, { status: 'success', data: wallets });
    await job.turn();
  }
  const overview = async () => (await proxy.get(operator, '/v1/overview').expect(200)).body.wallets;
  const said = (spy: jest.SpyInstance) =>
    (spy.mock.calls as unknown[][]).filter(([, text]) => /wallet balance/.test(String(text)));
  const lowOf = (id: string) => [expect.objectContaining({ wallet_id: id }), 'wallet balance is low'];

  it('are announced once when one becomes low, and once when it has recovered', async () => {
    await read(150, 20);
    expect(said(warn)).toEqual([lowOf('w-3')]);
    await read(99.5, 10);
    expect(said(warn)).toEqual([lowOf('w-3'), lowOf('w-1')]);
    await read(80, 10);
    expect(said(warn)).toHaveLength(2);
    expect(said(log)).toEqual([]);
    await read(500, 10);
    expect(said(log)).toEqual([
      [expect.objectContaining({ wallet_id: 'w-1' }), 'wallet balance has recovered'],
    ]);
    await read(90, 10);
    expect(said(warn)).toHaveLength(3);
  });

  it('are listed in the activity when one becomes low, and when it has recovered', async () => {
    const path = '/v1/activity?via=worker';
    const { activity } = (await proxy.get(operator, path).expect(200)).body;
    expect(activity.map(({ action, after }) => `${action} ${after?.wallet_id}`)).toEqual([
      'wallet_low w-1',
      'wallet_recovered w-1',
      'wallet_low w-1',
      'wallet_low w-3',
    ]);
    expect(activity[1]).toMatchObject({
      target: { client: null },
      before: {
        wallet_id: 'w-1',
        balance_usd: '99.5',
        low_balance_usd: '100',
        runway_seconds: expect.any(Number),
      },
      after: { wallet_id: 'w-1', wallet_type: 'airtime', balance_usd: '500' },
      by: { client: null, actor: null },
    });
  });

  it('are not announced again after a restart', async () => {
    const worker = await proxy.startWorker();
    jest.clearAllMocks();
    job = worker.get(WalletsJob, { strict: false });
    metrics = worker.get(MetricsService, { strict: false });
    await read(90, 10);
    expect(said(warn)).toEqual([]);
  });

  it('are shown with spending, without top-ups, and with their runway', async () => {
    const wallets = await overview();
    expect(wallets).toEqual([
      {
        account: 'main',
        wallet_id: 'w-1',
        type: 'airtime',
        balance_usd: '90',
        low_balance_usd: '100',
        is_low: true,
        spent_usd: '480', // 150 to 80, and 500 to 90
        runway_seconds: expect.any(Number),
        read_at: expect.stringMatching(/Z$/),
      },
      expect.objectContaining({ wallet_id: 'w-2', low_balance_usd: null, is_low: false, spent_usd: '10' }),
      expect.objectContaining({ wallet_id: 'w-3', is_low: true, spent_usd: '0', runway_seconds: null }),
    ]);
  });

  it('are exported as metrics', async () => {
    const { body } = await metrics.text();
    expect(body).toContain('payout_proxy_wallet_balance_usd{account="main",wallet="w-1",type="airtime"} 90');
    expect(body).toContain('payout_proxy_wallet_low{account="main",wallet="w-1",type="airtime"} 1');
    expect(body).not.toMatch(/payout_proxy_wallet_low\{account="main",wallet="w-2"/);
    expect(body).toMatch(
      /payout_proxy_wallet_runway_seconds\{account="main",wallet="w-1",type="airtime"\} \d/,
    );
    expect(body).not.toMatch(/payout_proxy_wallet_runway_seconds\{account="main",wallet="w-3"/);
  });

  it('store no entries, which a run reads by itself', async () => {
    expect(await proxy.database.query('SELECT FROM upstream_wallet_entry')).toEqual([]);
  });

  it('keep their last value while the upstream cannot be read', async () => {
    upstream.behaviour = answer(500, { status: 'error' });
    await job.turn();
    expect(await overview()).toHaveLength(3);
    expect(said(warn)).toEqual([]);
  });

  it('derive their runway from the spending between readings', () => {
    const runway = (balance: string, spent: string, seconds: number) =>
      runwayOf(new Decimal(balance), new Decimal(spent), seconds);
    expect(runway('100', '50', 86_400)).toBe(172_800);
    expect(runway('-3', '50', 86_400)).toBe(0);
    expect(runway('100', '0', 86_400)).toBeNull();
    expect(runway('100', '0', 0)).toBeNull();
  });
});
