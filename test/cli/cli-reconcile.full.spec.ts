import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dayOf, reconcileCommand } from '../../src/cli/reconcile/reconcile';
import { holdRuns } from '../support/payments/held-runs';
import { eventually } from '../support/payments/paying';
import { cliOf } from '../support/processes/cli';
import { Product } from '../support/processes/process';
import { startProxy } from '../support/processes/proxy';
import { FindingsScene } from '../support/reconciliation/findings-scene';
import {
  ProxyAccess,
  askForRun,
  ended,
  ReconciliationScene,
  startReconciling,
  untilNow,
} from '../support/reconciliation/reconciliation-scene';
import { totalsOf } from '../support/reconciliation/report-scene';

/** `reconcile` with a running proxy. */
describe('the reconcile command', () => {
  let scene: ReconciliationScene;
  let asking: ProxyAccess;
  let folder: string;
  const environment = { ...process.env };

  beforeAll(async () => {
    scene = await startReconciling();
    asking = { url: scene.proxy.url, key: scene.reconciler };
    folder = mkdtempSync(join(tmpdir(), 'payout-proxy-reconcile-'));
    Object.assign(process.env, env());
    await scene.pay('+254712345601').expect(200);
  });
  afterAll(async () => {
    process.env = environment;
    rmSync(folder, { recursive: true, force: true });
    await scene.close();
  });
  afterEach(() => jest.restoreAllMocks());

  const env = () => ({
    DATA_DIR: folder,
    PORT: new URL(scene.proxy.url).port,
    PAYOUT_PROXY_KEY: scene.reconciler,
  });
  const run = cliOf(reconcileCommand);
  const cli = async (...args: string[]) => {
    const spy = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    jest.spyOn(process.stdout, 'write');
    const { stdout, exitCode } = await run(...args);
    const stderr = spy.mock.calls.map(([text]) => String(text)).join('');
    spy.mockRestore();
    return { stdout, stderr, exitCode };
  };
  const period = () => {
    const { from, to } = untilNow();
    return ['--from', from, '--to', to];
  };

  it('writes a report, and exits with 0 without differences', async () => {
    const { stdout, stderr, exitCode } = await cli(...period());
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([undefined, { run: { result: 'clean' } }]);
    expect(stderr).toMatch(/^Run [0-9a-f-]{36}: clean, no differences\n$/);
  });

  it('exits with 2 for findings, and counts them by category', async () => {
    const airtimes = [{ countryToSend: 'Kenya', phoneNumber: '+254712345777', valueInUSD: 7.25 }];
    await scene.past('/payouts/airtime', { airtimes }).expect(200);
    const file = join(folder, 'report.csv');
    const { stdout, stderr, exitCode } = await cli(...period(), '--format', 'csv', '--out', file);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/: 1 findings? \(missing_local 1\)\n$/);
    expect(readFileSync(file, 'utf8')).toMatch(/missing_local/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const page = await cli('--run', /^Run (\S+):/.exec(stderr)?.[1] ?? '', '--format', 'html');
    expect([page.exitCode, page.stdout.slice(0, 15).toLowerCase()]).toEqual([2, '<!doctype html>']);
  });

  it.each([
    [
      'incomplete',
      3,
      /: incomplete, no differences in the data that was read\. The listing names nothing\.\n$/,
    ],
    ['clean_with_doubts', 4, /: no differences, but 1 in doubt(: .+)?\n$/],
    [
      'findings',
      2,
      /: 0 findings, incomplete: some data may not have been read\. The listing names nothing\.\n$/,
    ],
  ] as const)('reports the state of a run that is %s, and exits with %d', async (result, code, message) => {
    const incomplete = [{ reason: 'listing_empty' as const, detail: 'The listing names nothing.' }];
    const totals = { ...totalsOf([]), ...(result !== 'clean_with_doubts' && { incomplete }) };
    const id = await new FindingsScene(scene.proxy.database).run({ result, totals });
    const { stderr, exitCode } = await cli('--run', id);
    expect([exitCode, stderr]).toEqual([code, expect.stringMatching(message)]);
  });

  it.each<[string[], RegExp]>([
    [[], /Give --from and --to, or --day, or --run\./],
    [['--from', '2026-11-20T00:00:00Z'], /Give --from and --to/],
    [['--day', 'yesterday', '--run', 'x'], /Give --from and --to/],
    [['--run', 'x', '--as-of', '2026-11-20T00:00:00Z'], /apply only to a new run/],
    [['--run', 'x', '--account', 'kenya'], /apply only to a new run/],
    [['--day', '2024-03-01', '--account', 'uganda'], /\/account must be an upstream account: main/],
    [['--day', '2026-02-30'], /--day must be a day/],
    [['--from', '2026-11-20', '--to', '2026-11-21'], /\n\/from must be an ISO 8601 time/],
    [['--run', '01a1fc4c-d86a-751d-baa6-e9463876b80c'], /No reconciliation run has this ID/],
    [['--day', '2024-03-01', '--as-of', '2024-03-02T00:00:00Z'], /No complete listing/],
    [
      ['--day', '2024-03-01', '--out', '/nowhere/report.json'],
      /\/nowhere\/report\.json could not be written \(ENOENT\)/,
    ],
  ])('reports the error in %j', async (args, message) => {
    await expect(cli(...args)).rejects.toThrow(message);
  });

  it('reads a day in UTC', () => {
    const now = new Date('2026-03-01T00:30:00Z');
    expect(dayOf('yesterday', now)).toEqual({
      from: '2026-02-28T00:00:00.000Z',
      to: '2026-03-01T00:00:00.000Z',
    });
    expect(dayOf('2026-02-01', now)).toEqual({
      from: '2026-02-01T00:00:00.000Z',
      to: '2026-02-02T00:00:00.000Z',
    });
    for (const today of ['today', '2026-03-01']) {
      expect(dayOf(today, now)).toEqual({ from: '2026-03-01T00:00:00.000Z', to: '2026-03-01T00:30:00.000Z' });
    }
    expect(() => dayOf('2026-03-02', now)).toThrow(/must not be in the future/);
    expect(() => dayOf('today', new Date('2026-03-01T00:00:00Z'))).toThrow(/must not be in the future/);
  });

  it('follows a run that another connection continues', async () => {
    const letGo = holdRuns();
    const command = cli(...period());
    const working = `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
      AND application_name = 'payout-proxy reconciliation' AND query ~ 'advisory_lock'`;
    await eventually(async () => (await scene.proxy.database.query(working)).length > 0);
    await scene.proxy.database.query(`SELECT pg_terminate_backend(pid) FROM (${working}) AS runs`);
    letGo();
    expect((await command).exitCode).toBe(2);
  });

  it('reconnects after a lost connection', async () => {
    const letGo = holdRuns();
    let connections = 0;
    const between = createServer((client) => {
      const proxy = connect(Number(new URL(scene.proxy.url).port), '127.0.0.1');
      client.pipe(proxy).pipe(client);
      for (const socket of [client, proxy]) socket.on('error', () => client.destroy());
      connections += 1;
      // during the response
      if (connections === 2) proxy.once('data', () => setImmediate(() => client.destroy()));
      if (connections === 3) letGo();
    });
    await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
    const question = untilNow();
    const { body } = await askForRun(asking, question).expect(202);
    connections = 1;
    expect((await cli('--run', body.id, '--url', url)).exitCode).toBe(2);
    expect(connections).toBeGreaterThan(2);
    between.close();
  });

  it('leaves the run in progress when interrupted, and prints the command to follow it', async () => {
    const letGo = holdRuns();
    const args = ['reconcile', ...period()];
    const product = new Product('cli/main.js', args, env(), folder);
    const runs = () =>
      scene.proxy.database.query('SELECT id FROM reconciliation_run WHERE from_at = $1', [args[2]]);
    await eventually(async () => (await runs()).length > 0);
    const id = (await runs())[0]?.id as string;
    const followed = `SELECT FROM access WHERE route = 'GET /v1/reconciliation/runs/:id' AND id > $1`;
    await eventually(async () => (await scene.proxy.database.query(followed, [id])).length > 0);
    const { code, stderr } = await product.signal('SIGINT');
    expect([code, stderr]).toEqual([130, expect.stringContaining(`npm run cli -- reconcile --run ${id}`)]);
    letGo();
    expect(await ended(asking, id)).toMatchObject({ state: 'ended' });
  });

  it('fails with the reason if there is no result', async () => {
    const gone = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' });
    await gone.startWorker();
    process.env.PAYOUT_PROXY_KEY = (await gone.client('reconciler', 'reconcile')).key;
    const file = join(folder, 'none.json');
    const failing = cli(...period(), '--out', file, '--url', gone.url);
    await expect(failing).rejects.toThrow(/^The upstream's wallets could not be read completely \(refused\)/);
    expect(existsSync(file)).toBe(false);
    process.env.PAYOUT_PROXY_KEY = scene.reconciler;
    await gone.close();
  });

  it('has examples in its help', () => {
    let help = '';
    reconcileCommand()
      .configureOutput({ writeOut: (text) => (help += text) })
      .outputHelp();
    expect(help).toContain('npm run cli -- reconcile --day yesterday');
  });
});
