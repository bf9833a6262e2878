import {
  methodOf,
  OPERATION_NAMES,
  OperationName,
  pathOf,
  rowOf,
  sourceOf,
} from '../../../src/operations/catalogue/catalogue';
import { itemFieldsOf } from '../../../src/operations/items/items';
import { RunningConfig } from '../../../src/platform/config/config';
import { FakeUpstream } from '../network/fake-upstream';
import { startProxy, TestProxy } from '../processes/proxy';
import type { FullCallRecord } from './api';
import supertest, { TypedApiRequest } from './supertest';

/** A valid credit item, airtime item and mobile money item. */
export const creditItem = () => ({ valueInUSD: 1.5, email: 'ada@example.com' }) as Record<string, unknown>;
export const airtimeItem = () =>
  ({ countryToSend: 'Nigeria', phoneNumber: '+2348012345678', valueInUSD: 0.25 }) as Record<string, unknown>;
export const momoItem = () =>
  ({ ...airtimeItem(), reference: '', momoCode: 'MPS' }) as Record<string, unknown>;

/** A valid collection and airtime redemption. */
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

export interface ExampleRequest {
  operation: OperationName;
  path: string;
  body?: Record<string, unknown>;
}

/** Returns the example of an operation's row: a valid request. */
function exampleOf(operation: OperationName): ExampleRequest {
  const { input, example } = rowOf(operation);
  const path = pathOf(operation);
  if (input === 'body') return { operation, path, body: example as Record<string, unknown> };
  const query = new URLSearchParams(example as Record<string, string>).toString();
  return { operation, path: query === '' ? path : `${path}?${query}` };
}

const examplesFrom = (source: ReturnType<typeof sourceOf>) =>
  OPERATION_NAMES.filter((name) => sourceOf(name) === source).map(exampleOf);

/** The operations that the provider documents, each with a valid request. */
export const DOCUMENTED: ExampleRequest[] = examplesFrom('documented');

/** The operations that public clients revealed (docs/reference/upstream.md), each with a valid request. */
export const OBSERVED: ExampleRequest[] = examplesFrom('observed');

/** Operations with lists of items: the list's field, the fields of an item, and a valid item. */
export const LISTS = OPERATION_NAMES.flatMap((operation) => {
  const { in: list = 'the_body', fields = {} } = itemFieldsOf(operation) ?? {};
  if (list === 'the_body') return [];
  const [example] = (rowOf(operation).example as Record<string, Record<string, unknown>[]>)[list] ?? [];
  return [{ path: pathOf(operation), list, fields: Object.values(fields), item: () => ({ ...example }) }];
});

export interface ExpectedFault {
  pointer: string;
  detail: RegExp;
}

/** A request to an operation. All operations share their envelopes. */
export type InterfaceRequest = TypedApiRequest<'post', '/api/v0.1/send'>;

export interface TestInterface {
  proxy: TestProxy;
  upstream: FakeUpstream;
  /** A key for every operation of the interface. */
  app: string;
  /** A key for all records. */
  auditor: string;
  post(path: string, body: unknown, headers?: Record<string, string>): InterfaceRequest;
  /** Sends these bytes, as JSON unless `headers` override it. */
  postRaw(path: string, body: string | Buffer, headers?: Record<string, string>): InterfaceRequest;
  get(path: string, headers?: Record<string, string>): InterfaceRequest;
  /** Sends the valid request of an operation. */
  ask(asking: ExampleRequest): InterfaceRequest;
  /** Returns the auditor's view of a call. */
  record(callId: string): Promise<FullCallRecord>;
  /** Expects a refusal in the interface's envelope with exactly these faults, recorded and not sent. */
  expectRefused(request: InterfaceRequest, faults: ExpectedFault[]): Promise<FullCallRecord>;
  close(): Promise<void>;
}

/** A proxy in front of an upstream that stores its requests. */
export async function startInterface(settings: Partial<RunningConfig> = {}): Promise<TestInterface> {
  const upstream = await FakeUpstream.start();
  const proxy = await startProxy({ upstreamBaseUrl: upstream.url, ...settings });
  const { key: app } = await proxy.client('shop', 'pay', 'write', 'read', 'account');
  const { key: auditor } = await proxy.client('auditor', 'audit', 'audit:pii');
  const address = (path: string) => `/api/v0.1${path}` as const;
  const record = async (callId: string) =>
    (await proxy.get(auditor, `/v1/audit/calls/${callId}`).expect(200)).body;
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
      const response = await request.expect(400);
      expect({ status: response.status, errors: inOrder(response.body.errors ?? []) }).toEqual({
        status: 400,
        errors: inOrder(
          faults.map(({ pointer, detail }) => ({ pointer, detail: expect.stringMatching(detail) })),
        ),
      });
      const callId = response.headers['x-call-id'] ?? '';
      expect(response.type).toBe('application/json');
      expect(Object.keys(response.body)).toEqual(ERROR_MEMBERS);
      expect(response.body).toMatchObject({
        status: 'error',
        code: 'invalid_request',
        action: 'fix_request',
        call_id: callId,
      });
      expect(response.body.error).toMatch(/Correct the fields that "errors" lists/);
      // Some clients show only this field.
      expect(response.body.error).toContain(response.body.errors?.[0]?.detail.slice(1));
      expect(upstream.received.length).toBe(sentBefore);
      const recorded = await record(callId);
      expect(recorded).toMatchObject({
        outcome: 'refused',
        items: [],
        upstream: null,
        request: null,
        response: null,
      });
      expect(recorded.refusal).toMatchObject({
        status: 400,
        code: 'invalid_request',
        error_count: faults.length,
      });
      return recorded;
    },
    close: async () => {
      await proxy.close();
      await upstream.stop();
    },
  };
}

/** Sends the valid request of an operation with any key. */
export function askAs(
  proxy: TestProxy,
  key: string,
  { operation, path, body }: ExampleRequest,
): InterfaceRequest {
  if (methodOf(operation) === 'GET') return proxy.get(key, `/api/v0.1${path}`);
  return proxy.post(key, path, body as object); // undefined: no body
}

/** Sorts faults, because their order does not matter. */
function inOrder<Fault extends { pointer: string }>(faults: Fault[]): Fault[] {
  return [...faults].sort((a, b) => (a.pointer < b.pointer ? -1 : Number(a.pointer > b.pointer)));
}
