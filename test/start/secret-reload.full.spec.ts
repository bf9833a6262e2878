import { createHmac, randomUUID } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClientsService } from '../../src/access/clients/clients.service';
import { Secret } from '../../src/platform/config/secrets/secret';
import supertest from '../support/http/supertest';
import { answer } from '../support/network/fake-upstream';
import { eventually, PaymentScene, startPaying } from '../support/payments/paying';

const FIRST_KEY = 'first-key-of-the-upstream';
const SECOND_KEY = 'second-key-of-the-upstream';
const FIRST_SECRET = 'first-secret-of-the-events';
const SECOND_SECRET = 'second-secret-of-the-events';
const KENYA_KEY = 'first-key-of-another-account';

/** Another account at the same upstream. */
const KENYA = {
  name: 'kenya',
  baseUrl: undefined,
  apiKey: new Secret(KENYA_KEY),
  webhookSecret: undefined,
  subAccount: undefined,
  wallet: undefined,
  fees: new Map<string, string>(),
};

/** Secrets in files are replaced without a restart, and without lost or refused requests. */
describe('a secret replaced in its file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-reload-'));
  const files = { key: join(folder, 'key'), secret: join(folder, 'secret'), kenya: join(folder, 'kenya') };
  let paying: PaymentScene;

  beforeAll(async () => {
    writeFileSync(files.key, FIRST_KEY);
    writeFileSync(files.secret, FIRST_SECRET);
    writeFileSync(files.kenya, KENYA_KEY);
    paying = await startPaying({
      upstreamApiKey: new Secret(FIRST_KEY),
      upstreamWebhookSecret: new Secret(FIRST_SECRET),
      secretFiles: new Map([
        ['UPSTREAM_API_KEY', files.key],
        ['UPSTREAM_WEBHOOK_SECRET', files.secret],
        ['UPSTREAM_ACCOUNT_KENYA_API_KEY', files.kenya],
      ]),
      namedAccounts: [KENYA],
    });
  });
  afterAll(async () => {
    await paying.close();
    rmSync(folder, { recursive: true });
  });

  /** Replaces the file by a link, like Kubernetes. */
  const replace = (file: string, content: string) => {
    const made = join(folder, randomUUID());
    writeFileSync(made, content);
    symlinkSync(made, `${made}.link`);
    renameSync(`${made}.link`, file);
  };
  const usedKey = async (app = paying.app) => {
    await paying.proxy.get(app, '/api/v0.1/account/transaction?id=x');
    return paying.upstream.received.at(-1)?.headers['x-api-key'];
  };
  const tell = (secret: string) => {
    const [id, at, body] = [randomUUID(), Math.floor(Date.now() / 1_000), '{"issueID":"x"}'];
    const signature = createHmac('sha256', secret).update(`${id}.${at}.${body}`).digest('base64');
    return supertest(paying.proxy.url)
      .post('/hooks/upstream')
      .set({ 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,${signature}` })
      .set('content-type', 'application/json')
      .send(body);
  };

  it('signs in to the upstream with the new key, and no answer shows either key', async () => {
    expect(await usedKey()).toBe(FIRST_KEY);
    replace(files.key, `${SECOND_KEY}\n`);
    await eventually(async () => (await usedKey()) === SECOND_KEY);
    const quoting = `${FIRST_KEY} is not ${SECOND_KEY}`;
    paying.upstream.behaviour = answer(400, { status: 'error', error: quoting });
    const { text } = await paying.proxy.get(paying.app, '/api/v0.1/account/transaction?id=x').expect(400);
    expect(text).toContain('[key removed] is not [key removed]');
  });

  it('is ignored if it is not a valid key, and the previous one stays', async () => {
    replace(files.key, 'a b');
    replace(files.secret, SECOND_SECRET); // once it is loaded, the key was read, too
    await eventually(async () => (await tell(SECOND_SECRET)).status === 200);
    expect(await usedKey()).toBe(SECOND_KEY);
    replace(files.key, 'third-key-of-the-upstream');
    await eventually(async () => (await usedKey()) === 'third-key-of-the-upstream');
  });

  it('is the key of one account, and changes no other one', async () => {
    const clients = paying.proxy.app.get(ClientsService, { strict: false });
    const { key: kiosk } = await clients.create('kiosk', ['read', 'account'], { account: 'kenya' });
    const mains = await usedKey();
    expect(await usedKey(kiosk)).toBe(KENYA_KEY);
    replace(files.kenya, 'second-key-of-another-account');
    await eventually(async () => (await usedKey(kiosk)) === 'second-key-of-another-account');
    expect(await usedKey()).toBe(mains);
  });

  it('verifies events with the new secret, and with the previous one until they are stale', async () => {
    await tell(SECOND_SECRET).expect(200);
    await tell(FIRST_SECRET).expect(200);
    await tell('no-secret-of-the-events').expect(401);
  });
});
