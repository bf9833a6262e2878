import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, RequestListener } from 'node:http';
import { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auditCommands } from '../../src/cli/audit/audit';
import { ExportService } from '../../src/history/export/export.service';
import { PaymentScene, phones, startPaying } from '../support/payments/paying';
import { Product } from '../support/processes/process';
import { insertSettlements } from '../support/records/documents';

/** `audit export` with a running proxy. */
describe('the export command', () => {
  let paying: PaymentScene;
  let folder: string;

  beforeAll(async () => {
    jest.spyOn(ExportService.prototype, 'covering').mockResolvedValue(null); // no wait for a checkpoint
    paying = await startPaying();
    folder = mkdtempSync(join(tmpdir(), 'payout-proxy-export-'));
    for (const phone of phones(3)) await paying.pay(phone).expect(200);
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await paying.close();
  });

  const env = () => ({
    DATA_DIR: folder,
    PORT: new URL(paying.proxy.url).port,
    PAYOUT_PROXY_KEY: paying.auditor,
  });
  const cli = (args: string[]) => new Product('cli/main.js', ['audit', ...args], env(), folder).exit;
  /** Runs a command in this process, which is faster. */
  const run = async (args: string[]) => {
    const before = { ...process.env };
    Object.assign(process.env, env());
    const [stdout, stderr] = [process.stdout, process.stderr].map((stream) =>
      jest.spyOn(stream, 'write').mockImplementation((_text: unknown, written: unknown) => {
        if (typeof written === 'function') (written as () => void)();
        return true;
      }),
    );
    try {
      await auditCommands().parseAsync(args, { from: 'user' });
      const textOf = (spy: jest.SpyInstance | undefined) =>
        (spy?.mock.calls ?? []).map(([text]) => String(text)).join('');
      return { stdout: textOf(stdout), stderr: textOf(stderr) };
    } finally {
      stdout?.mockRestore();
      stderr?.mockRestore();
      process.env = before;
    }
  };
  const listen = async (listener: RequestListener) => {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  };

  it('writes a complete, verifiable file that only its owner can read', async () => {
    const { code, stdout, stderr } = await cli(['export', '--format', 'csv', '--out', 'calls.csv']);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/^calls\.csv: 3 calls, complete; SHA-256 [0-9a-f]{64}; /);
    const file = join(folder, 'calls.csv');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    // a heading, three rows, and the end
    expect(readFileSync(file, 'utf8').split('\r\n')).toHaveLength(5);
    expect(statSync(`${file}.manifest.json`).mode & 0o777).toBe(0o600);
    expect((await run(['check-export', file])).stdout).toMatch(/^3 calls, complete/);
    expect(JSON.parse((await run(['check-export', file, '--json'])).stdout)).toMatchObject({
      rows: 3,
      format: 'csv',
    });
    const moved = join(folder, 'moved.json');
    renameSync(`${file}.manifest.json`, moved);
    await expect(run(['check-export', file])).rejects.toThrow(
      /calls\.csv\.manifest\.json cannot be read \(ENOENT\)/,
    );
    expect((await run(['check-export', file, '--manifest', moved])).stdout).toMatch(/^3 calls, complete/);
    await expect(run(['check-export', file, '--manifest', file])).rejects.toThrow(
      /is not the manifest of an export/,
    );
    renameSync(moved, `${file}.manifest.json`);
  });

  it('writes everything to standard output without --out, with filters', async () => {
    const filters = ['--filter', `recipient=${phones(2)[1]}`, '--filter', 'outcome=succeeded'];
    const manifest = join(folder, 'stdout.json');
    const options = ['--format', 'ndjson', '--what', 'items', '--manifest', manifest];
    const { stdout, stderr } = await run(['export', ...options, ...filters]);
    expect(JSON.parse(stdout)).toMatchObject({ phone: phones(2)[1], position: 0 });
    expect(stderr).toMatch(/^1 items, complete/);
    expect(JSON.parse(readFileSync(manifest, 'utf8'))).toMatchObject({
      rows: 1,
      filters: { recipient: phones(2)[1], outcome: 'succeeded' },
    });
  });

  it('reports invalid options, and writes nothing', async () => {
    await expect(
      run(['export', '--format', 'csv', '--out', join(folder, 'none'), '--filter', 'from=x']),
    ).rejects.toThrow(/\n\/from must be an ISO 8601 time/);
    await expect(run(['export', '--format', 'csv', '--out', join(folder, 'no', 'where')])).rejects.toThrow(
      /where\.partial cannot be written \(ENOENT\)/,
    );
    expect(existsSync(join(folder, 'none'))).toBe(false);
    await expect(run(['check-export', join(folder, 'none')])).rejects.toThrow(
      /none\.manifest\.json cannot be read \(ENOENT\)/,
    );
  });

  const whole = () => readFileSync(join(folder, 'calls.csv'), 'utf8');
  const manifest = () => readFileSync(join(folder, 'calls.csv.manifest.json'), 'utf8');
  /** Serves an export and its manifest. */
  const serving =
    (body: () => string, manifestText: () => string | undefined): RequestListener =>
    ({ url }, response) => {
      const text = url?.endsWith('/manifest') ? manifestText() : body();
      if (text === undefined) response.writeHead(404).end('{"detail":"There is no manifest."}');
      else response.setHeader('Link', '</v1/audit/export/1/manifest>; rel="describedby"').end(text);
    };
  it.each<[string, RequestListener, RegExp]>([
    [
      'breaks off',
      (_request, response) => {
        response.writeHead(200, { 'x-total-count': '3' });
        response.write(whole().slice(0, 1_000), () => response.destroy());
      },
      /The export was interrupted after \d+ rows\. Run it again\./,
    ],
    [
      'names no manifest',
      (_request, response) => response.end(whole()),
      /The response has no link to a manifest/,
    ],
    ['has no manifest', serving(whole, () => undefined), /There is no manifest\./],
    [
      'ends too early',
      serving(() => whole().slice(0, whole().lastIndexOf('\r\n', whole().length - 3) + 2), manifest),
      /The export has 2 rows, but its manifest says 3\./,
    ],
    ['is empty', serving(() => '', manifest), /The export has 0 rows, but its manifest says 3\./],
    [
      'is changed',
      serving(() => whole().replace('2.5', '9.5'), manifest),
      /The export was changed: its SHA-256 differs from the one in its manifest\./,
    ],
    [
      'comes from another service',
      (_request, response) => response.writeHead(500).end('<html>'),
      /Check --url/,
    ],
  ])('leaves no file if the export %s', async (_fault, listener, words) => {
    const { server, url } = await listen(listener);
    const file = join(folder, 'broken.csv');
    await expect(run(['export', '--format', 'csv', '--out', file, '--url', url])).rejects.toThrow(words);
    server.closeAllConnections();
    server.close();
    expect(readdirSync(folder).filter((name) => name.startsWith('broken'))).toEqual([]);
  });

  it('counts rows with any content: lines within cells, quotes, apostrophes', async () => {
    const file = join(folder, 'strange.csv');
    const { database } = paying.proxy;
    const [call] = await database.query<{ intent_id: string }>('SELECT id AS intent_id FROM intent LIMIT 1');
    await insertSettlements(database, [
      { ...call, resolution: 'confirmed', reason: 'said "yes"\r\n=1\n# manifest {}' },
    ]);
    for (const format of ['csv', 'ndjson']) {
      await run(['export', '--format', format, '--out', file, '--filter', 'operation=POST /payouts/airtime']);
      expect((await run(['check-export', file])).stdout).toMatch(/^3 calls, complete/);
    }
    writeFileSync(file, 'x'.repeat(3_000_000));
    await expect(run(['check-export', file])).rejects.toThrow(/The export has 0 rows/);
  });
});
