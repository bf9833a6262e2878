import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newSigningKey } from '../../src/history/log/note';
import { Secret } from '../../src/platform/config/secrets/secret';
import { migrate, PROXY_MIGRATIONS } from '../../src/platform/database/migrations/migrations';
import { ReleasedProgram, unpackReleased } from '../support/databases/released-program';
import { eventually, phones } from '../support/payments/paying';
import { removeDataDir } from '../support/processes/data-dir';
import { envOf, newDataDir, Product } from '../support/processes/process';
import { startProxyWithSandbox, TestProxy, UPSTREAM_KEY } from '../support/processes/proxy';
import { reconcile, untilNow } from '../support/reconciliation/reconciliation-scene';

/** A migration of a later release. It expands tables that every payment writes. */
const LATER = '20990101000000_later';
const EXPANSION = (oldest: string) => `INSERT INTO migration_compatibility VALUES ('${LATER}', '${oldest}');
CREATE TABLE remark (id uuid PRIMARY KEY, text text NOT NULL);
GRANT SELECT, INSERT ON remark TO payout_proxy;
ALTER TABLE client ADD COLUMN remark text;
ALTER TABLE intent ADD COLUMN remark text NOT NULL DEFAULT '';
ALTER TABLE outcome ADD COLUMN remark text;
ALTER TABLE settlement ADD COLUMN remark text;`;

/**
 * Runs the last released program on the schema of a later migration next to a proxy of this commit, as in a
 * rolling upgrade. Covers the statements of these flows only.
 */
describe('the last released program on a later schema', () => {
  const signingKey = newSigningKey('test');
  const dataDir = newDataDir();
  const migrations = mkdtempSync(join(tmpdir(), 'payout-proxy-later-'));
  let released: ReleasedProgram;
  let current: TestProxy;
  let old: Product;
  let oldUrl: string;
  let app: { name: string; key: string };
  let operator: { key: string };
  let approver: { key: string };

  /** Sends a request without validation against the API document, which describes this version only. */
  const ask = async (method: string, url: string, key: string, body?: object, idempotencyKey?: string) => {
    const headers = {
      'X-API-Key': key,
      ...(body && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
    };
    const answer = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  const pay = (url: string, phoneNumber: string, key: string = randomUUID(), valueInUSD = 2) => {
    const body = { airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD }] };
    return ask('POST', `${url}/api/v0.1/payouts/airtime`, app.key, body, key);
  };

  beforeAll(async () => {
    released = unpackReleased();
    current = await startProxyWithSandbox({ checkCoverage: false, logSigningKey: new Secret(signingKey) });
    cpSync(PROXY_MIGRATIONS, migrations, { recursive: true });
    mkdirSync(join(migrations, LATER));
    writeFileSync(join(migrations, LATER, 'migration.sql'), EXPANSION(released.migration));
    expect(await migrate(current.database.ownerUrl, migrations)).toEqual([LATER]);
    app = await current.client('app', 'pay', 'write', 'read', 'account');
    operator = await current.client('operator', 'admin', 'audit', 'reconcile');
    approver = await current.client('approver', 'approve');
    const env = {
      ...envOf(current.database),
      UPSTREAM_BASE_URL: (current as TestProxy & { sandbox: { url: string } }).sandbox.url,
      UPSTREAM_API_KEY: UPSTREAM_KEY,
      LOG_SIGNING_KEY: signingKey,
      LOG_LEVEL: 'error',
      DATA_DIR: dataDir,
    };
    new Product(released.worker, [], env, dataDir);
    old = new Product(released.main, [], env, dataDir);
    [, oldUrl = ''] = await old.said(/payout-proxy is ready\s+(http\S+)/);
  });
  afterAll(async () => {
    await old?.signal('SIGTERM');
    await current.close();
    removeDataDir(dataDir);
    removeDataDir(released.directory);
    removeDataDir(migrations);
  });

  it('pays once per key, in either order of the versions', async () => {
    for (const [index, [one, other]] of [
      [oldUrl, current.url],
      [current.url, oldUrl],
    ].entries()) {
      const phone = phones(4)[index] ?? '';
      const key = randomUUID();
      const paid = await pay(one ?? '', phone, key);
      const replayed = await pay(other ?? '', phone, key);
      expect([paid.status, replayed.status, replayed.headers.get('idempotent-replayed')]).toEqual([
        200,
        200,
        'true',
      ]);
      expect(replayed.text).toBe(paid.text);
    }
  });

  it('shares caps, stops and approvals with this version', async () => {
    const [, , third = '', fourth = ''] = phones(4);
    const limits = { daily_cap_usd: '7', reason: 'a test' };
    expect((await ask('PATCH', `${oldUrl}/v1/clients/${app.name}`, operator.key, limits)).status).toBe(200);
    for (const url of [current.url, oldUrl])
      expect((await pay(url, third, randomUUID(), 4)).status).toBe(403);
    const stop = await ask('POST', `${oldUrl}/v1/stops`, operator.key, {
      everything: true,
      reason: 'a test',
    });
    expect((await pay(current.url, third)).status).toBe(503);
    const { id } = JSON.parse(stop.text) as { id: string };
    expect((await ask('DELETE', `${current.url}/v1/stops/${id}`, operator.key)).status).toBe(200);
    await current.database.query('UPDATE client SET approval_over_usd = 2, daily_cap_usd = 100');
    const held = await pay(current.url, fourth, randomUUID(), 3);
    expect(held.status).toBe(202);
    const approve = `${oldUrl}/v1/approvals/${held.headers.get('x-call-id')}/approve`;
    expect((await ask('POST', approve, approver.key, { reason: 'a test' })).status).toBe(200);
  });

  it('finds, seals and reconciles the calls of both', async () => {
    const read = async (url: string) => {
      const { text } = await ask(
        'GET',
        `${url}/v1/audit/calls?operation=POST%20/payouts/airtime`,
        operator.key,
      );
      return (JSON.parse(text) as { calls: { id: string }[] }).calls.map(({ id }) => id);
    };
    expect(await read(oldUrl)).toEqual(await read(current.url));
    expect(await read(oldUrl)).toHaveLength(8); // 2 paid, 2 replayed, 3 refused, 1 approved
    await eventually(
      async () => (await current.database.query('SELECT FROM checkpoint WHERE size > 8')).length > 0,
    );
    // Only the worker of the last release runs, so it executes the run.
    const run = await reconcile({ url: current.url, key: operator.key }, untilNow());
    expect(run).toMatchObject({ state: 'ended', failure: null });
  });

  it('answers every request without an error of its own', () => {
    expect(old.stderr + old.stdout.replace(/^.*✓.*$/gm, '')).not.toMatch(/"level":(50|60)|error/i);
  });
});
