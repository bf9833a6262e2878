import { ClientsService } from '../../../src/access/clients/clients.service';
import { Scope } from '../../../src/operations/catalogue/scopes';
import { createSandbox } from '../../../src/sandbox/app';
import { createTestDatabase } from '../databases/test-database';
import type { FullCallRecord } from '../http/api';
import { startProxy, TestProxy, UPSTREAM_KEY } from '../processes/proxy';
import { askSandbox } from '../sandbox/sandbox-answers';

const CONTROL = { 'X-Sandbox-Control-Key': 'sandbox-control' };
export const APP: Scope[] = ['pay', 'write', 'read'];
const PHONE = '+254712345678';

/** A transaction in the sandbox's answers. */
export interface Transaction {
  id: string;
  chiRef: string;
  issueID: string;
  email?: string;
  status: string;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: { code?: string; error?: string; data?: unknown; call_id?: string };
}

/** Clients that share a sandbox account: two apps, one with the whole account, and an auditor. */
export interface SharedAccount {
  proxy: TestProxy;
  clients: ClientsService;
  shop: string;
  rival: string;
  whole: string;
  auditor: string;
  post(key: string, path: string, body: object, headers?: Record<string, string>): Promise<Answer>;
  get(key: string, path: string): Promise<Answer>;
  recordOf(answer: Answer): Promise<FullCallRecord>;
  /** Returns the arrivals at the upstream, oldest first. */
  arrivals(): Promise<string[]>;
  listed(key: string): Promise<Transaction[]>;
  /** Returns an unused address. */
  email(): string;
  /** Pays a redeemable credit. */
  credit(key: string): Promise<Transaction>;
  /** Creates an unpaid link. */
  link(key: string, words?: { description?: string }): Promise<Transaction>;
  /** Creates an unpaid link by an operation whose answer names no transaction. */
  unnamed(key: string, words?: { description?: string }): Promise<Transaction>;
  collection(key: string): Promise<Transaction>;
  close(): Promise<void>;
}

export async function startSharedAccount(): Promise<SharedAccount> {
  const database = await createTestDatabase();
  const sandbox = await createSandbox({ databaseUrl: database.sandboxUrl, port: 0, apiKey: UPSTREAM_KEY });
  const proxy = await startProxy({ upstreamBaseUrl: sandbox.url }, database);
  const clients = proxy.app.get(ClientsService, { strict: false });
  const keyOf = async (name: string, scopes: Scope[]) => (await clients.create(name, scopes)).key;
  const whole = await keyOf('whole', [...APP, 'account']);
  const auditor = await keyOf('auditor', ['audit', 'audit:pii']);
  const post: SharedAccount['post'] = async (key, path, body, headers = {}) =>
    (await proxy.post(key, path as '/send', body).set(headers)) as unknown as Answer;
  const listed = async (key: string) => {
    const answer = await post(key, '/account/transactions', {});
    expect(answer.status).toBe(200);
    return answer.body.data as Transaction[];
  };
  let people = 0;
  const email = () => `person-${(people += 1)}@example.com`;
  const credits = () => ({ credits: [{ email: email(), valueInUSD: 0.5 }] });
  return {
    proxy,
    clients,
    shop: await keyOf('shop', APP),
    rival: await keyOf('rival', APP),
    whole,
    auditor,
    post,
    get: async (key, path) => (await proxy.get(key, path as '/v1/calls')) as unknown as Answer,
    recordOf: async ({ headers }) =>
      (await proxy.get(auditor, `/v1/audit/calls/${headers['x-call-id'] ?? ''}`).expect(200)).body,
    arrivals: async () => {
      const { body } = await askSandbox(sandbox.url).get('/_sandbox/requests').set(CONTROL).expect(200);
      return body.map(({ operation, query, body: sent }) => `${operation} ${JSON.stringify([query, sent])}`);
    },
    listed,
    email,
    credit: async (key) => firstOf(await post(key, '/payouts/credit', credits())),
    link: async (key, words) =>
      firstOf(await post(key, '/payouts/initiate-credit', { ...credits(), ...words })),
    unnamed: async (key, words) => {
      const to = email();
      await post(key, '/send', { credit: [{ email: to, valueInUSD: 0.5 }], ...words });
      return (await listed(whole)).find((one) => one.email === to) as Transaction;
    },
    collection: async (key) => {
      const payer = {
        amount: 150.5,
        currency: 'KES',
        phone_number: PHONE,
        fullname: 'Ada Lovelace',
        country: 'Kenya',
      };
      const answer = await post(key, '/collections/mobile-money/initiate', {
        ...payer,
        email: email(),
        tx_ref: 'x',
      });
      return answer.body.data as Transaction;
    },
    close: async () => {
      await proxy.close();
      await sandbox.close();
      await database.close();
    },
  };
}

function firstOf({ body }: Answer): Transaction {
  return (body.data as { data: [Transaction] }).data[0];
}

export const redemption = ({ chiRef }: Pick<Transaction, 'chiRef'>) => ({
  chiRef,
  phoneNumber: PHONE,
  countryToSend: 'Kenya',
});
