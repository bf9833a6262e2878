import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Method } from '../support/http/request';
import supertest from '../support/http/supertest';
import { removeDataDir } from '../support/processes/data-dir';
import { newDataDir, Product, readJson } from '../support/processes/process';

const ROOT = join(__dirname, '..', '..');

/** Number of calls in the history, enough for every chart and list. */
const CALLS = '4000';
const DAYS = '31';

type Keys = Record<'app' | 'auditor' | 'reconciler' | 'approver' | 'admin', string>;

/** Subjects of the pictures. */
export interface Scene {
  url: string;
  keys: Keys;
  /** IDs of records with their own pages. */
  paid: string;
  held: string;
  run: string;
  person: string;
  close(): Promise<void>;
}

/** Starts a scene: a generated month, then a morning of an app, an approver and a reconciler. */
export async function startScene(): Promise<Scene> {
  const dataDir = newDataDir();
  const seed = join(ROOT, 'bench', 'history', 'seed.mjs');
  const env = { ...process.env, DATA_DIR: dataDir };
  const seeded = spawnSync(process.execPath, [seed, '--calls', CALLS, '--days', DAYS], {
    env,
    encoding: 'utf8',
  });
  if (seeded.status !== 0) throw new Error(seeded.stderr);
  const began = new Date();
  const settings = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent', RESOLVER_EVERY_SECONDS: '0' };
  const product = new Product(
    'main.js',
    [],
    { ...settings, START_WORKER: 'true', RECONCILIATION_LATE_AFTER_SECONDS: '1' },
    dataDir,
  );
  const [, url = ''] = await product.said(/ready\s+(http\S+)/);
  const keys = readJson<Keys>(dataDir, 'demo-keys.json');
  const morning = new Morning(url, keys);
  await morning.limits();
  const paid = await morning.pay();
  const held = await morning.hold();
  await morning.pastTheProxy(readJson(dataDir, 'sandbox.json'));
  const run = await morning.reconcile(began);
  const person = await morning.people();
  return {
    url,
    keys,
    paid,
    held,
    run,
    person,
    close: async () => {
      await product.signal('SIGTERM');
      removeDataDir(dataDir);
    },
  };
}

const PHONES = ['+2348012345678', '+254712345678', '+233241234567', '+254733111222'];

const PAYERS = [
  ['user-41', 2.5],
  ['user-17', 18.25],
  ['user-08', 9],
  ['user-33', 20],
] as const;

class Morning {
  constructor(
    private readonly url: string,
    private readonly keys: Keys,
  ) {}

  async limits(): Promise<void> {
    const limits = {
      daily_cap_usd: '250',
      monthly_cap_usd: '4000',
      approval_over_usd: '75',
      max_item_usd: '500',
    };
    await this.ask('patch', '/v1/clients/app', this.keys.admin).send(limits).expect(200);
  }

  /** @returns the ID of a call with several payouts. */
  async pay(): Promise<string> {
    const airtimes = PHONES.map((phoneNumber, index) => ({
      countryToSend: ['Nigeria', 'Kenya', 'Ghana', 'Kenya'][index],
      phoneNumber,
      valueInUSD: 5.25 + index,
    }));
    const order = this.airtime(airtimes).set('Idempotency-Key', 'order-2041');
    const { headers } = await order.expect(200);
    for (const index of PHONES.keys()) {
      const one = { countryToSend: 'Kenya', phoneNumber: `+25471200000${index}`, valueInUSD: 2.5 };
      await this.airtime([one])
        .set('Idempotency-Key', `order-${2042 + index}`)
        .expect(200);
    }
    await this.airtime([{ countryToSend: 'Kenya', phoneNumber: '0712', valueInUSD: 2.5 }]).expect(400);
    return String(headers['x-call-id']);
  }

  /** @returns the ID of a held call. */
  async hold(): Promise<string> {
    const { body } = await this.airtime([
      { countryToSend: 'Nigeria', phoneNumber: '+2348012345678', valueInUSD: 60 },
      { countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 40.5 },
    ]).expect(202);
    await this.airtime([{ countryToSend: 'Ghana', phoneNumber: '+233241234567', valueInUSD: 80 }]).expect(
      202,
    );
    return body.call_id;
  }

  /** Pays with the upstream's own key, which the reconciliation reports as a difference. */
  async pastTheProxy({ url, apiKey }: { url: string; apiKey: string }): Promise<void> {
    for (const valueInUSD of [3, 12.5, 40]) {
      await supertest(url)
        .post('/api/v0.1/payouts/airtime')
        .set('X-API-Key', apiKey)
        .send({ airtimes: [{ countryToSend: 'Kenya', phoneNumber: '+254700000001', valueInUSD }] })
        .expect(200);
    }
  }

  /** @returns the ID of an ended run. */
  async reconcile(from: Date): Promise<string> {
    await sleep(2_000); // payments of this second may not be listed yet
    const period = { from: from.toISOString(), to: new Date().toISOString() };
    const { body } = await this.ask('post', '/v1/reconciliation/runs', this.keys.reconciler)
      .send(period)
      .expect(202);
    for (;;) {
      const run = await this.ask('get', `/v1/reconciliation/runs/${body.id}`, this.keys.reconciler).expect(
        200,
      );
      if (run.body.state !== 'running') return body.id;
      await sleep(200);
    }
  }

  /** @returns the ID of a person with own limits, one of several for whom an app calls. */
  async people(): Promise<string> {
    const caps = { daily_cap_usd: '500', person_daily_cap_usd: '20', person_monthly_cap_usd: '200' };
    const client = { name: 'wallet', scopes: ['pay', 'read'], ...caps };
    const { body } = await this.ask('post', '/v1/clients', this.keys.admin).send(client).expect(201);
    for (const [index, [actor, usd]] of PAYERS.entries()) {
      const airtimes = [{ countryToSend: 'Kenya', phoneNumber: `+25471300000${index}`, valueInUSD: usd }];
      await this.ask('post', '/api/v0.1/payouts/airtime', String(body.key))
        .set('X-Actor', actor)
        .send({ airtimes })
        .expect(200);
    }
    const own = { name: 'user-17', daily_cap_usd: '50', reason: 'Case 17' };
    const limited = await this.ask('post', '/v1/clients/wallet/persons', this.keys.admin)
      .send(own)
      .expect(200);
    return String(limited.body.id);
  }

  private airtime(airtimes: object[]) {
    return this.ask('post', '/api/v0.1/payouts/airtime', this.keys.app).send({ airtimes });
  }

  private ask<Verb extends Method, const Path extends string>(method: Verb, path: Path, key: string) {
    return supertest(this.url)[method](path).set('X-API-Key', key);
  }
}
