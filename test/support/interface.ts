import supertest from 'supertest';
import { RunningConfig } from '../../src/platform/config/config';
import { methodOf, OperationName } from '../../src/operations/operations';
import type { FullCallRecord } from './api';
import { FakeUpstream } from './fake-upstream';
import { startProxy, TestProxy } from './proxy';

/** A credit item, an airtime item and a mobile money item that are right in everything. */
export const creditItem = () => ({ valueInUSD: 1.5, email: 'ada@example.com' }) as Record<string, unknown>;
export const airtimeItem = () =>
  ({ countryToSend: 'Nigeria', phoneNumber: '+2348012345678', valueInUSD: 0.25 }) as Record<string, unknown>;
export const momoItem = () => ({ ...airtimeItem(), reference: '', momoCode: 'MPS' }) as Record<string, unknown>;

/** A collection and an airtime redemption that are right in everything. */
export const collection = () =>
  ({
    amount: 1500.5,
    currency: 'KES',
    phone_number: '+254712345678',
    fullname: 'Ada Lovelace',
    country: 'Kenya',
    email: 'ada@example.com',
    tx_ref: 'invoice-17',
  }) as Record<string, unknown>;
export const redemption = () =>
  ({
    chiRef: '3f8a0c1e-9d0b-4c54-8f55-2f6d0a4f8f11',
    phoneNumber: '+2348012345678',
    countryToSend: 'Nigeria',
    meta: { order: 'A-17', lines: [{ sku: 1 }] },
  }) as Record<string, unknown>;

const ERROR_MEMBERS = ['status', 'error', 'code', 'action', 'call_id', 'errors', 'errors_total'];

export interface Asking {
  operation: OperationName;
  path: string;
  body?: Record<string, unknown>;
}

/** The operations that interface.md documents, each with a request that is right. */
export const DOCUMENTED: Asking[] = [
  { operation: 'POST /send', path: '/send', body: { credit: [creditItem()], description: 'Prizes' } },
  { operation: 'POST /payouts/airtime', path: '/payouts/airtime', body: { airtimes: [airtimeItem()] } },
  { operation: 'POST /payouts/mobile-money', path: '/payouts/mobile-money', body: { momos: [momoItem()] } },
  { operation: 'POST /payouts/credit', path: '/payouts/credit', body: { credits: [creditItem()] } },
  {
    operation: 'POST /payouts/initiate-credit',
    path: '/payouts/initiate-credit',
    body: { credits: [creditItem()], description: 'Prizes' },
  },
  {
    operation: 'POST /account/transfer',
    path: '/account/transfer',
    body: { receiver: 'sub-account-1', amount: 2.5, wallet: 'airtime' },
  },
  {
    operation: 'POST /account/delete-unpaid-transaction',
    path: '/account/delete-unpaid-transaction',
    body: { chiRef: '3f8a0c1e-9d0b-4c54-8f55-2f6d0a4f8f11' },
  },
  { operation: 'GET /account/transaction', path: '/account/transaction?id=Zk3x9Qw1Lm7Tn2Rb5Vc8' },
  { operation: 'GET /wallets/list', path: '/wallets/list' },
  { operation: 'GET /sub-account/list', path: '/sub-account/list' },
];

/** Those that only public clients showed (upstream-observed.md). */
export const OBSERVED: Asking[] = [
  { operation: 'POST /account/transactions', path: '/account/transactions', body: {} },
  {
    operation: 'POST /account/issue-id-transactions',
    path: '/account/issue-id-transactions?issueID=user-1_7.5_1700000000000',
  },
  { operation: 'GET /info/assets', path: '/info/assets' },
  { operation: 'GET /info/airtime-countries', path: '/info/airtime-countries' },
  { operation: 'GET /info/mobile-money-codes', path: '/info/mobile-money-codes' },
  {
    operation: 'GET /info/usd-amount-in-local',
    path: '/info/usd-amount-in-local?destinationCurrency=KES&amountInUSD=100.50',
  },
  {
    operation: 'GET /info/local-amount-in-usd',
    path: '/info/local-amount-in-usd?originCurrency=NGN&amountInOriginCurrency=20',
  },
  {
    operation: 'POST /collections/mobile-money/collect',
    path: '/collections/mobile-money/collect',
    body: collection(),
  },
  {
    operation: 'POST /collections/mobile-money/initiate',
    path: '/collections/mobile-money/initiate',
    body: collection(),
  },
  {
    operation: 'POST /collections/mobile-money/verify',
    path: '/collections/mobile-money/verify',
    body: { id: 'Zk3x9Qw1Lm7Tn2Rb5Vc8' },
  },
  { operation: 'POST /redeem/airtime', path: '/redeem/airtime', body: redemption() },
  {
    operation: 'POST /sub-account/create',
    path: '/sub-account/create',
    body: {
      name: 'Branch',
      email: 'ada@example.com',
      firstName: 'Ada',
      lastName: 'Lovelace',
      phoneNumber: '+2348012345678',
      meta: { cost_centre: 17 },
    },
  },
  { operation: 'GET /sub-account/get', path: '/sub-account/get?id=sub-account-1' },
  { operation: 'POST /wallets/lookup', path: '/wallets/lookup', body: { walletID: 'Zk3x9Qw1Lm7Tn2Rb5Vc8' } },
  {
    operation: 'POST /wallets/transfer',
    path: '/wallets/transfer',
    body: { receiver: 'sub-account-1', valueInUSD: 2.5, wallet: 'airtime' },
  },
];

/** The operations whose bodies list items: the list's field and an item that is right. */
export const LISTS = [
  { path: '/send', list: 'credit', item: creditItem },
  { path: '/payouts/airtime', list: 'airtimes', item: airtimeItem },
  { path: '/payouts/mobile-money', list: 'momos', item: momoItem },
  { path: '/payouts/credit', list: 'credits', item: creditItem },
  { path: '/payouts/initiate-credit', list: 'credits', item: creditItem },
] as const;

export interface FaultExpected {
  pointer: string;
  detail: RegExp;
}

export interface TestInterface {
  proxy: TestProxy;
  upstream: FakeUpstream;
  /** A key that may do everything the interface has. */
  app: string;
  /** A key that may see everything recorded. */
  auditor: string;
  post(path: string, body: unknown, headers?: Record<string, string>): supertest.Test;
  /** Sends these bytes, and says that they are JSON unless `headers` say otherwise. */
  postRaw(path: string, body: string | Buffer, headers?: Record<string, string>): supertest.Test;
  get(path: string, headers?: Record<string, string>): supertest.Test;
  /** The right request of an operation. */
  ask(asking: Asking): supertest.Test;
  /** The record of a call, as the auditor sees it. */
  record(callId: string): Promise<FullCallRecord>;
  /** Awaits a refusal in the interface's envelope with exactly these faults, recorded, and nothing sent. */
  expectRefused(request: supertest.Test, faults: FaultExpected[]): Promise<FullCallRecord>;
  close(): Promise<void>;
}

/** A proxy before an upstream that remembers what it was sent. */
export async function startInterface(settings: Partial<RunningConfig> = {}): Promise<TestInterface> {
  const upstream = await FakeUpstream.start();
  const proxy = await startProxy({ upstreamBaseUrl: upstream.url, ...settings });
  const { key: app } = await proxy.client('shop', 'pay', 'write', 'read', 'account');
  const { key: auditor } = await proxy.client('auditor', 'audit', 'audit:pii');
  const address = (path: string) => `/api/v0.1${path}`;
  const record = async (callId: string) =>
    (await proxy.get(auditor, `/v1/audit/calls/${callId}`).expect(200)).body as FullCallRecord;
  return {
    proxy,
    upstream,
    app,
    auditor,
    record,
    post: (path, body, headers = {}) => proxy.post(app, path, body as object).set(headers),
    postRaw: (path, body, headers = { 'Content-Type': 'application/json' }) =>
      supertest(proxy.url).post(address(path)).set('X-API-Key', app).set(headers).send(body),
    get: (path, headers = {}) => proxy.get(app, address(path)).set(headers),
    ask: (asking) => askAs(proxy, app, asking),
    expectRefused: async (request, faults) => {
      const sentBefore = upstream.received.length;
      const response = await request;
      expect({ status: response.status, errors: inOrder(response.body.errors ?? []) }).toEqual({
        status: 400,
        errors: inOrder(faults.map(({ pointer, detail }) => ({ pointer, detail: expect.stringMatching(detail) }))),
      });
      const callId = response.headers['x-call-id'] as string;
      expect(response.type).toBe('application/json');
      expect(Object.keys(response.body as object)).toEqual(ERROR_MEMBERS);
      expect(response.body).toMatchObject({
        status: 'error',
        code: 'invalid_request',
        action: 'fix_request',
        call_id: callId,
      });
      expect(response.body.error).toMatch(/Correct the fields that "errors" lists/);
      expect(response.body.error).toContain(response.body.errors[0].detail.slice(1)); // for clients that show nothing else
      expect(upstream.received.length).toBe(sentBefore);
      const recorded = await record(callId);
      expect(recorded).toMatchObject({ outcome: 'refused', items: [], upstream: null, request: null, response: null });
      expect(recorded.refusal).toMatchObject({ status: 400, code: 'invalid_request', error_count: faults.length });
      return recorded;
    },
    close: async () => {
      await proxy.close();
      await upstream.stop();
    },
  };
}

/** The right request of an operation, with any key. */
export function askAs(proxy: TestProxy, key: string, { operation, path, body }: Asking): supertest.Test {
  if (methodOf(operation) === 'GET') return proxy.get(key, `/api/v0.1${path}`);
  return proxy.post(key, path, body as object); // undefined: no body
}

/** The order in which faults are listed is nobody's business. */
function inOrder<Fault extends { pointer: string }>(faults: Fault[]): Fault[] {
  return [...faults].sort((a, b) => (a.pointer < b.pointer ? -1 : Number(a.pointer > b.pointer)));
}
