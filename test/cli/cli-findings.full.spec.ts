import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClientsService } from '../../src/access/clients/clients.service';
import { findingsCommands } from '../../src/cli/reconcile/findings';
import { FakeUpstream } from '../support/network/fake-upstream';
import { cliOf } from '../support/processes/cli';
import { startProxy, TestProxy } from '../support/processes/proxy';
import { FindingsScene } from '../support/reconciliation/findings-scene';

/** The commands of reconcilers, with a running proxy. */
describe('the findings command', () => {
  const before = { ...process.env };
  const cli = cliOf(findingsCommands);
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let scene: FindingsScene;
  let folder: string;
  let ids: string[];

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    scene = new FindingsScene(proxy.database);
    folder = mkdtempSync(join(tmpdir(), 'payout-proxy-findings-'));
    const { key } = await proxy.client('reconciler', 'reconcile');
    Object.assign(process.env, { DATA_DIR: folder, PORT: new URL(proxy.url).port, PAYOUT_PROXY_KEY: key });
    const leak = { category: 'missing_local', upstreamRef: 'chi-1', usd: '2' };
    ids = await scene.findings(await scene.run(), [leak, { category: 'late', usd: '0' }]);
  });
  afterAll(async () => {
    process.env = before;
    rmSync(folder, { recursive: true, force: true });
    // The commands' fetch may keep a connection with an unread response.
    proxy.app.getHttpServer().closeAllConnections();
    await proxy.close();
    await upstream.stop();
  });
  const at = (name: string) => join(folder, name);

  it('lists undecided findings as text and as JSON', async () => {
    const { stdout } = await cli('list', '--filter', 'severity=critical');
    expect(stdout).toMatch(
      new RegExp(
        `${ids[0]} +critical +missing_local +2 +\\S+ +open +0 +upstream_ref/chi-1 +amount_usd: 5 \\| 6\n$`,
      ),
    );
    const all = JSON.parse((await cli('list', '--json')).stdout) as { findings: { id: string }[] };
    expect(all.findings.map(({ id }) => id)).toEqual([...ids].reverse());
    await expect(cli('list', '--filter', 'severity=bad')).rejects.toThrow(
      /\/severity must be one of critical/,
    );
  });

  it('exports findings to a spreadsheet, and imports decisions', async () => {
    const [leak = ''] = ids;
    await cli('export', '--out', at('all.csv'), '--delimiter', 'semicolon');
    const file = readFileSync(at('all.csv'), 'utf8');
    writeFileSync(at('all.csv'), file.replace(`${leak};;`, `${leak};accepted;"a test; ours"`));
    await expect(cli('decide', '--file', at('all.csv'))).rejects.toThrow(
      /row 3: only a person can accept a difference/,
    );
    await expect(cli('decide', '--file', at('all.csv'), '--actor', 'grace')).rejects.toThrow(
      /X-Actor does not count/,
    );
    const clients = proxy.app.get(ClientsService, { strict: false });
    const { key } = await clients.issueKey('reconciler', { person: 'grace' });
    writeFileSync(at('grace.key'), key);
    const asGrace = ['decide', '--file', at('all.csv'), '--key-file', at('grace.key')];
    const { stdout } = await cli(...asGrace);
    expect(stdout).toBe('Decided 1 findings. Skipped 1 rows without a decision.\n');
    expect(await scene.steps(leak)).toEqual([
      expect.objectContaining({ state: 'accepted', reason: 'a test; ours', actor: 'grace' }),
    ]);
    await expect(cli(...asGrace)).rejects.toThrow(/is already accepted/);
    expect((await cli('export', '--filter', 'state=accepted')).stdout).toContain(leak);
    expect(readdirSync(folder).sort()).toEqual(['all.csv', 'grace.key']);
  });

  it('reports errors', async () => {
    await expect(cli('decide', '--file', at('none.csv'))).rejects.toThrow(/none\.csv cannot be read\.$/);
    await expect(cli('export', '--out', at('no/such/folder.csv'))).rejects.toThrow(
      /could not be written \(ENOENT\)/,
    );
  });
});
