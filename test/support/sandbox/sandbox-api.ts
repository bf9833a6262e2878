import { Decimal } from 'decimal.js';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { demoKeysFile, ensureDemoKeys } from '../../../src/app/start/demo-keys';
import { OperationName } from '../../../src/operations/catalogue/catalogue';
import { Secret } from '../../../src/platform/config/secrets/secret';
import type { FullCallRecord, SampleAnswerDto, SampleDto, SandboxDto } from '../http/api';
import supertest, { TypedApiRequest } from '../http/supertest';
import { removeDataDir } from '../processes/data-dir';
import { newDataDir, readJson } from '../processes/process';
import { startProxyWithSandbox, TestProxy, UPSTREAM_KEY } from '../processes/proxy';

export const CONTROL_KEY = 'control-key-that-must-never-be-seen';

export type Method = 'get' | 'post' | 'patch' | 'delete';

/** Each route with a valid request. */
export const ROUTES: [Method, string, object?][] = [
  ['get', ''],
  ['post', '/faults', { fault: 'error500' }],
  ['delete', '/faults'],
  ['delete', '/faults/1'],
  ['patch', '/lies/fees', { percent: 0 }],
  ['patch', '/lies/listing-delay', { type: 'momo' }],
  ['patch', '/lies/words', { shown_in: 'listed', status: 'paid' }],
  ['patch', '/lies/lists', { list: 'entries', newest: null }],
  ['delete', '/lies'],
  ['post', '/entries', { type: 'top_up', wallet: 'momo', usd: 1 }],
  ['post', '/payouts', { operation: 'POST /payouts/airtime', body: {} }],
];

export interface TestSandboxApi {
  proxy: TestProxy;
  sandboxUrl: string;
  clients: ClientsService;
  /** Keys of the first start, by demo client. */
  keys: Record<string, string>;
  keysFile: string;
  /** Checks the demo keys, like each start. */
  demoKeys(): Promise<Record<string, string>>;
  /** Sends a request below /v1/sandbox, by default as the demo admin. */
  ask<Verb extends Method, const Path extends string>(
    method: Verb,
    path: Path,
    body?: object,
    key?: string,
  ): TypedApiRequest<Verb, `/v1/sandbox${Path}`>;
  look(): Promise<SandboxDto>;
  sample(operation: OperationName): Promise<SampleDto>;
  /** Sends the sample of an operation. Returns the response of the sandbox API. */
  send(operation: OperationName, more?: object): Promise<SampleAnswerDto>;
  /** Returns the balance of a wallet in US dollars. */
  balance(accountId: string, wallet: string): Promise<Decimal>;
  /** Returns the auditor's view of a call. */
  record(callId: string): Promise<FullCallRecord>;
  /** Expects all responses so far to be free of keys. */
  expectNoSecrets(): void;
  close(): Promise<void>;
}

/** A proxy that started its own sandbox, with demo clients. */
export async function startSandboxApi(): Promise<TestSandboxApi> {
  const dataDir = newDataDir();
  const keysFile = demoKeysFile(dataDir);
  const embedded = { controlKey: new Secret(CONTROL_KEY), demoKeysFile: keysFile };
  const proxy = await startProxyWithSandbox({ upstreamTimeoutMs: 3_000 }, embedded);
  const clients = proxy.app.get(ClientsService, { strict: false });
  const secrets = new Set([CONTROL_KEY, UPSTREAM_KEY, dataDir]);
  const answered: string[] = [];

  const demoKeys = async () => {
    const keys = readJson<Record<string, string>>(await ensureDemoKeys(clients, dataDir));
    for (const key of Object.values(keys)) secrets.add(key);
    return keys;
  };
  const keys = await demoKeys();
  const { admin = '', auditor = '' } = keys;

  const ask: TestSandboxApi['ask'] = (method, path, body, key = admin) =>
    supertest(proxy.url)
      [method](`/v1/sandbox${path}`)
      .set('X-API-Key', key)
      .send(body)
      .expect(({ headers, text }) => void answered.push(JSON.stringify(headers) + text));
  const look: TestSandboxApi['look'] = async () => (await ask('get', '').expect(200)).body;
  const sample: TestSandboxApi['sample'] = async (operation) =>
    (await look()).samples.find((row) => row.operation === operation)!;
  return {
    proxy,
    sandboxUrl: proxy.sandbox.url,
    clients,
    keys,
    keysFile,
    demoKeys,
    ask,
    look,
    sample,
    send: async (operation, more = {}) => {
      const { body } = await sample(operation);
      return (await ask('post', '/payouts', { operation, body, ...more }).expect(200)).body;
    },
    balance: async (accountId, wallet) => {
      const { wallets } = await look();
      return new Decimal(
        wallets.find((row) => row.account_id === accountId && row.wallet === wallet)!.balance,
      );
    },
    record: async (callId) => (await proxy.get(auditor, `/v1/audit/calls/${callId}`).expect(200)).body,
    expectNoSecrets: () => {
      const all = answered.join('\n');
      expect(all).not.toBe('');
      for (const secret of secrets) expect(all).not.toContain(secret);
    },
    close: async () => {
      await proxy.close();
      removeDataDir(dataDir);
    },
  };
}
