import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newSigningKey, signerOf } from '../../../src/history/log/note';
import { Secret } from '../../../src/platform/config/secrets/secret';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import type { Receipt } from '../../support/http/api';
import { FakeUpstream, succeed } from '../../support/network/fake-upstream';
import { eventually } from '../../support/payments/paying';
import { runCli } from '../../support/processes/cli';
import { envOf, Product } from '../../support/processes/process';
import { startProxy } from '../../support/processes/proxy';
import { verifyAsDocumented } from '../../support/records/documented-verifier';

const TOOL = join(__dirname, '..', '..', '..', 'tools', 'verify-receipt.mjs');
const [OLD, NEW] = [newSigningKey('test'), newSigningKey('test')];
const [oldKey, newKey] = [OLD, NEW].map((key) => signerOf(key).verifierKey) as [string, string];

/** Configurations of the steps of a rotation. */
const STEPS = {
  before: { LOG_SIGNING_KEY: OLD, LOG_RETIRED_KEYS: '' },
  during: { LOG_SIGNING_KEY: `${NEW}, ${OLD}`, LOG_RETIRED_KEYS: '' },
  after: { LOG_SIGNING_KEY: NEW, LOG_RETIRED_KEYS: oldKey },
};

/** Tests share one installation, and run the steps of the rotation in order. */
describe('a rotation of LOG_SIGNING_KEY', () => {
  const dir = mkdtempSync(join(tmpdir(), 'payout-proxy-change-'));
  const checkpointFile = join(dir, 'checkpoints');
  let database: TestDatabase;
  let upstream: FakeUpstream;

  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await FakeUpstream.start();
    upstream.behaviour = succeed;
  });
  afterAll(async () => {
    await upstream.stop();
    await database.close();
    rmSync(dir, { recursive: true });
  });

  /** Makes a payment with the keys of a step. Returns its receipt, and the keys that the API returns. */
  async function receiptIn({ LOG_SIGNING_KEY, LOG_RETIRED_KEYS }: (typeof STEPS)[keyof typeof STEPS]) {
    const logRetiredKeys = LOG_RETIRED_KEYS === '' ? [] : [LOG_RETIRED_KEYS];
    const keys = { logSigningKey: new Secret(LOG_SIGNING_KEY), logRetiredKeys };
    const proxy = await startProxy({ upstreamBaseUrl: upstream.url, checkpointFile, ...keys }, database);
    await proxy.startWorker();
    const { key } = await proxy.client(`client-${Object.keys(receipts).length}`, 'pay', 'audit');
    const credits = [{ email: 'ada@example.com', valueInUSD: 2 }];
    const call = (await proxy.post(key, '/payouts/credit', { credits }).expect(200)).headers['x-call-id'];
    let receipt: Receipt | undefined;
    await eventually(async () => {
      const { status, body } = await proxy.get(key, `/v1/calls/${call}/receipt`);
      if (status === 200) receipt = body as Receipt;
      return status === 200;
    });
    const { text } = await proxy.get(key, '/v1/audit/log/key').expect(200);
    await proxy.close();
    return { receipt: receipt as Receipt, keys: text.trim().split('\n') };
  }

  const receipts: Partial<Record<keyof typeof STEPS, Receipt>> = {};
  const start = (more: Record<string, string>, program: 'main.js' | 'worker/main.js' = 'main.js') => {
    const env = { UPSTREAM_BASE_URL: upstream.url, UPSTREAM_API_KEY: 'the-key-of-nobody', DATA_DIR: dir };
    return new Product(program, [], { ...envOf(database), ...env, ...more }, dir);
  };
  async function expectStart(more: Record<string, string>): Promise<void> {
    const product = start(more);
    await product.said(/payout-proxy is ready/);
    await product.signal('SIGTERM');
  }

  it('requires both keys: a start without the old one is refused with instructions', async () => {
    const { receipt, keys } = await receiptIn(STEPS.before);
    expect([receipt.log.key, keys]).toEqual([oldKey, [oldKey]]);
    receipts.before = receipt;
    const refused = await start(STEPS.after).exit;
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^payout-proxy: the newest .* only by a key in LOG_RETIRED_KEYS.* <new key>,<previous key> on .*\n$/,
      ),
    ]);
    const replaced = await start({ LOG_SIGNING_KEY: NEW }).exit;
    expect([replaced.code, replaced.stderr]).toEqual([
      1,
      expect.stringContaining('signed by none of its keys'),
    ]);
    for (const secret of [OLD, NEW])
      expect(refused.stderr + replaced.stderr).not.toContain(secret.slice(-40));
    const worker = await start(STEPS.after, 'worker/main.js').exit;
    expect([worker.code, worker.stderr]).toEqual([
      1,
      refused.stderr.replace('payout-proxy:', 'payout-proxy worker:'),
    ]);
    await expectStart(STEPS.during);
    const changing = start(STEPS.during, 'worker/main.js');
    await changing.said(/worker is ready/);
    await changing.signal('SIGTERM');
  });

  it('continues with the new key alone after both have signed', async () => {
    const during = await receiptIn(STEPS.during);
    expect([during.receipt.log.key, during.keys]).toEqual([newKey, [newKey, oldKey]]);
    receipts.during = during.receipt;
    await expectStart(STEPS.after);
    const after = await receiptIn(STEPS.after);
    expect([after.receipt.log.key, after.keys]).toEqual([newKey, [newKey, oldKey]]);
    receipts.after = after.receipt;
  });

  it('keeps old receipts valid for holders of the old key, the new keys, or both', () => {
    const check = (receipt: Receipt | undefined, key: string) => {
      writeFileSync(join(dir, 'receipt.json'), JSON.stringify(receipt));
      writeFileSync(join(dir, 'log.pub'), `${key}\n`);
      try {
        const said = execFileSync(process.execPath, [TOOL, '--json', '--key', 'log.pub', 'receipt.json'], {
          cwd: dir,
        });
        return (JSON.parse(said.toString()) as { log: { key: string } }).log.key;
      } catch (error) {
        return (JSON.parse((error as { stdout: string }).stdout) as { fault: string }).fault;
      }
    };
    const { before, during, after } = receipts;
    const both = `${newKey}\n${oldKey}`;
    const foreign = expect.stringMatching(
      /^None of the given keys signed the receipt\. It names another key/,
    ) as string;
    expect([check(before, oldKey), check(before, newKey), check(before, both)]).toEqual([
      oldKey,
      foreign,
      oldKey,
    ]);
    expect([check(during, oldKey), check(during, newKey), check(during, both)]).toEqual([
      oldKey,
      newKey,
      newKey,
    ]);
    expect([check(after, oldKey), check(after, newKey), check(after, both)]).toEqual([
      foreign,
      newKey,
      newKey,
    ]);
    const faults = [oldKey, newKey].map((key) => {
      return verifyAsDocumented(
        [before, during, after].map((receipt) => JSON.stringify(receipt)),
        key,
      ).faults;
    });
    const unsigned = expect.stringContaining('not signed by the key') as string;
    expect(faults).toEqual([
      [null, null, unsigned],
      [unsigned, null, null],
    ]);
  });

  it("leaves the log verifiable with the first key, a file of all keys, or the proxy's keys", async () => {
    const verify = async (args: string[], env: Record<string, string> = {}) =>
      runCli(['audit', 'verify', '--json', ...args], { ...envOf(database), DATA_DIR: dir, ...env }, dir);
    const file = join(dir, 'all.pub');
    writeFileSync(file, `${newKey}\n${oldKey}\n`);
    for (const { code, stdout, stderr } of [
      await verify(['--key', oldKey]),
      await verify(['--key', file]),
      await verify(['--key', `${oldKey},${newKey}`]),
      await verify([], STEPS.after),
    ]) {
      expect([code, stderr]).toEqual([0, '']);
      expect(JSON.parse(stdout)).toMatchObject({ ok: true, fault: null });
    }
    expect(JSON.parse((await verify(['--key', newKey])).stdout)).toMatchObject({
      fault: { code: 'not_signed', leaf: 0 },
    });
  });
});
