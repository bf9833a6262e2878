import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, RequestListener, Server } from 'node:http';
import { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApprovalScene, startApproving } from '../support/payments/approving';
import { runCli } from '../support/processes/cli';
import { Product } from '../support/processes/process';

/** The commands of approvers, with a running proxy. */
describe('the approvals command', () => {
  let approving: ApprovalScene;
  let folder: string;

  beforeAll(async () => {
    approving = await startApproving();
    folder = mkdtempSync(join(tmpdir(), 'payout-proxy-cli-'));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await approving.close();
  });
  beforeEach(() => approving.reset());

  const env = (more: Record<string, string> = {}) => ({
    DATA_DIR: folder,
    PORT: new URL(approving.proxy.url).port,
    PAYOUT_PROXY_KEY: approving.approver.key,
    ...more,
  });
  const cli = (args: string[], environment = env()) => runCli(['approvals', ...args], environment, folder);
  const output = async (args: string[], environment = env()) => {
    const { code, stdout, stderr } = await cli(args, environment);
    expect([code, stderr]).toEqual([0, '']);
    return stdout;
  };
  const refuses = async (args: string[], words: RegExp) => {
    const { code, stdout, stderr } = await cli(args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr.trimEnd()).toMatch(words);
  };

  it('lists pending calls as text and as JSON', async () => {
    const id = await approving.hold();
    const table = await output(['list']);
    expect(table).toMatch(
      new RegExp(`${id} +app +POST /payouts/airtime +2.5 +1 +pending_approval +over_threshold`),
    );
    const { approvals } = JSON.parse(await output(['list', '--json'])) as { approvals: { id: string }[] };
    expect(approvals.map((each) => each.id)).toEqual([id]);
    expect(await output(['list', '--status', 'rejected'])).toBe('(none)\n');
    await output(['reject', id, '--reason', 'not ours']);
    expect(await output(['list', '--status', 'rejected'])).toContain(id);
    expect(await approving.read(id)).toMatchObject({ outcome: 'declined', approval: { reason: 'not ours' } });
  });

  it('approves with a key from a file, and shows the outcome', async () => {
    const id = await approving.hold();
    const file = join(folder, 'key');
    writeFileSync(file, `${approving.approver.key}\n`);
    const options = ['--reason', 'agreed', '--url', `${approving.proxy.url}/`, '--key-file', file];
    const answer = JSON.parse(
      await output(['approve', id, ...options, '--json'], env({ PORT: '1', PAYOUT_PROXY_KEY: 'x' })),
    ) as unknown;
    expect(answer).toMatchObject({
      id,
      outcome: 'succeeded',
      approval: { status: 'approved', reason: 'agreed' },
    });
    expect(approving.upstream.received).toHaveLength(1);
  });

  it("falls back to the demo approver's key", async () => {
    writeFileSync(join(folder, 'demo-keys.json'), JSON.stringify({ approver: approving.approver.key }));
    await output(['list'], env({ PAYOUT_PROXY_KEY: '' }));
    rmSync(join(folder, 'demo-keys.json'));
    const child = new Product('cli/main.js', ['approvals', 'list'], env({ PAYOUT_PROXY_KEY: '' }), folder);
    const { code, stderr } = await child.exit;
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('No API key was found. Give one with --key-file or PAYOUT_PROXY_KEY.'),
    ]);
  });

  it('reports the error of the proxy', async () => {
    const id = await approving.hold();
    const [reason, hash] = [
      ['--reason', 'agreed'],
      ['--content-hash', 'ab'.repeat(32)],
    ];
    await refuses(['approve', 'x', ...reason], /^No call with this ID was held for approval\.$/);
    await refuses(
      ['approve', id, ...reason, ...hash],
      /^The content_hash of this call differs from the one you sent/,
    );
    await refuses(['reject', id, '--reason', ' '], /\n\/reason must be text of 1 to 1000 characters/);
    await refuses(
      ['list', '--status', 'old'],
      /\n\/status must be one of pending, approved, rejected, expired$/,
    );
    await refuses(['list', '--url', 'here'], /^--url must be a URL/);
    await refuses(['list', '--key-file', join(folder, 'none')], /^The key file .*none cannot be read\.$/);
    for (const notAKey of ['one:two\nthree:four\n', '{ "approver": "pp_x" }', '\n', 'clé']) {
      writeFileSync(join(folder, 'not-a-key'), notAKey);
      await refuses(
        ['list', '--key-file', join(folder, 'not-a-key')],
        /must contain only the API key, on one line\.$/,
      );
    }
    const { code, stderr } = await cli(
      ['approve', id, ...reason],
      env({ PAYOUT_PROXY_KEY: approving.auditor }),
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining('a key with the scope approve')]);
    expect(approving.upstream.received).toEqual([]);
  });

  it('reports that no proxy responds', async () => {
    const { server, url } = await listen(() => undefined);
    await new Promise((resolve) => server.close(resolve));
    await refuses(
      ['list', '--url', url],
      /^No proxy responds at http:\/\/127\.0\.0\.1:\d+\. Start the proxy/,
    );
  });

  it.each<[string, RequestListener, RegExp]>([
    [
      'belongs to another service',
      (_, response) => response.end('<html>'),
      /returned 200, but it is not the proxy\. Check --url\./,
    ],
    [
      'redirects',
      (_, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
      /Check approvals list before you continue\./,
    ],
    [
      'hangs up',
      (request) => request.socket.destroy(),
      /The decision may have been made\. Check approvals list before you continue\./,
    ],
  ])('reports a failure at an address that %s', async (_server, listener, words) => {
    const requests: string[] = [];
    const { server, url } = await listen((request, response) => {
      requests.push(request.url ?? '');
      void listener(request, response);
    });
    await refuses(['approve', 'x', '--reason', 'agreed', '--url', url], words);
    server.closeAllConnections();
    server.close();
    expect(requests).toEqual(['/v1/approvals/x/approve']);
  });
});

async function listen(listener: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
