import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reconcileCommand } from '../../src/cli/reconcile/reconcile';
import { cliOf } from '../support/processes/cli';
import { startProxy, TestProxy } from '../support/processes/proxy';
import { HEADER, LINE, MAPPING } from '../support/reconciliation/statement';

describe('the reconcile import command', () => {
  let proxy: TestProxy;
  let key: string;

  beforeAll(async () => {
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:9' });
    ({ key } = await proxy.client('recon', 'reconcile', 'audit:pii'));
  });
  afterAll(() => proxy.close());

  it('imports a statement once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-statement-'));
    const [file, mapping] = [join(folder, 'april.csv'), join(folder, 'mapping.json')];
    writeFileSync(file, `${HEADER}\n${LINE}\nx,none,,,\n`.replaceAll(',', ';'));
    writeFileSync(mapping, JSON.stringify(MAPPING));
    Object.assign(process.env, { PORT: new URL(proxy.url).port, PAYOUT_PROXY_KEY: key });
    const reconcile = cliOf(reconcileCommand);
    try {
      const args = ['import', file, '--mapping', `@${mapping}`, '--delimiter', 'semicolon'];
      const { stdout, exitCode } = await reconcile(...args);
      expect(stdout).toMatch(
        /^Imported: 1 of 2 lines can be used\.\nline 3: Amount is not an amount\nstatement [0-9a-f-]{36}\n$/,
      );
      expect(exitCode).toBe(2);
      const again = JSON.parse((await reconcile(...args, '--json', '--url', proxy.url)).stdout) as unknown;
      expect(again).toMatchObject({ already_imported: true, file: 'april.csv' });
      await expect(reconcile(...args.slice(0, 4))).rejects.toThrow(
        /names the column Reference ID, which does not exist/,
      );
      await expect(reconcile(...args, '--account', 'uganda')).rejects.toThrow(
        /\/account must be an upstream account: main/,
      );
      await expect(reconcile('import', folder, '--mapping', 'fields')).rejects.toThrow(/cannot be read/);
    } finally {
      delete process.env.PORT;
      delete process.env.PAYOUT_PROXY_KEY;
      rmSync(folder, { recursive: true });
    }
  });
});
