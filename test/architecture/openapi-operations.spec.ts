import {
  mayBeQueued,
  movesValue,
  namedObjectOf,
  OperationName,
  OPERATIONS,
  rowOf,
} from '../../src/operations/catalogue/catalogue';
import { API_DOCUMENT as document, operationsIn } from '../support/http/api-document';

describe('the operations in the OpenAPI documents', () => {
  it('describe the headers of every response', () => {
    const names = [...document.info.description.matchAll(/^- `([^`]+)`: /gm)].map(([, name]) => name);
    expect(names).toEqual(['X-Request-Id', 'X-Call-Id', 'Server-Timing', 'RateLimit-Policy', 'RateLimit']);
  });

  it('describe the request and response headers of each operation', () => {
    for (const { path, method, operation, shared } of operationsIn(document)) {
      const ofAny = ['X-Request-Id', 'traceparent', 'X-Actor'];
      expect([path, shared]).toEqual([path, [...ofAny, path.startsWith('/v1/') ? 'X-People' : 'Prefer']]);
      for (const [status, { headers = {} }] of Object.entries(operation.responses)) {
        const sealing = [
          '/v1/audit/log/checkpoint',
          '/v1/audit/log/consistency',
          '/v1/calls/{id}/receipt',
          '/v1/audit/calls/{id}/receipt',
        ].includes(path);
        const running = ['/v1/reconciliation/runs', '/v1/reconciliation/runs/{id}/report'].includes(path);
        const comesBack =
          ['429', '503'].includes(status) ||
          (status === '409' && (sealing || running || path.startsWith('/api/')));
        const retry = comesBack && path !== '/readyz' ? ['Retry-After'] : [];
        const count = path === '/v1/audit/export' && status === '200' ? ['Link', 'X-Total-Count'] : [];
        const isCall = path.startsWith('/api/');
        const held = status === '202' && (running || isCall);
        const accepted = held ? ['Location', 'Retry-After', ...(isCall ? ['Preference-Applied'] : [])] : [];
        const signsIn = path === '/v1/session' && method === 'post' && status === '200';
        const cookie = signsIn ? ['Set-Cookie'] : [];
        expect([path, status, Object.keys(headers)]).toEqual([
          path,
          status,
          [...retry, ...count, ...accepted, ...cookie],
        ]);
      }
    }
  });

  it('offer an idempotency key only for operations that pay or write', () => {
    const described = operationsIn(document);
    for (const [name, { effect }] of Object.entries(OPERATIONS)) {
      const found = described.find(({ path, method }) => `${method.toUpperCase()} ${path}` === address(name));
      const named = found?.operation.parameters.some((parameter) => parameter.name === 'Idempotency-Key');
      expect([name, named]).toEqual([name, effect !== 'read']);
    }
  });

  it('describe a preview of each operation that is not a read', () => {
    const posts = new Map(
      operationsIn(document).flatMap(({ path, method, operation }) =>
        method === 'post' ? [[path, operation]] : [],
      ),
    );
    const previews = [...posts.keys()].filter((path) => path.startsWith('/v1/preview/'));
    const tried = Object.entries(OPERATIONS).filter(([, { effect }]) => effect !== 'read');
    expect(previews.sort()).toEqual(tried.map(([name]) => `/v1/preview${name.slice('POST '.length)}`).sort());
    for (const path of previews) {
      const { requestBody, responses } = posts.get(path)!;
      const body = posts.get(path.replace('/v1/preview', '/api/v0.1'))?.requestBody;
      expect([path, requestBody, Object.keys(responses)]).toEqual([
        path,
        body,
        ['200', '400', '401', '403', '429', '500', '503'],
      ]);
      expect(responses['200']?.content?.['application/json']?.schema.$ref).toMatch(/\/Preview$/);
      expect(responses['429']?.description).toContain('`too_many_at_once`');
      expect(responses['503']?.description).toContain('`readers_busy`');
    }
  });

  it('list every error of every operation', () => {
    const operations = operationsIn(document).filter(({ path }) => path.startsWith('/api/v0.1'));
    for (const { path, operation } of operations) {
      const name = nameOf(path);
      const changes =
        rowOf(name).effect === 'read' ? [] : ['409', '422', ...(mayBeAccepted(name) ? ['202'] : [])];
      const names = namedObjectOf(name) === undefined ? [] : ['404'];
      const each = [
        '200',
        '400',
        '401',
        '403',
        '429',
        '500',
        '502',
        '503',
        '504',
        ...changes,
        ...names,
      ].sort();
      expect([path, Object.keys(operation.responses)]).toEqual([path, [...each, '4XX']]);
    }
  });
});

/** Returns whether a call may be held for an approval or queued. */
const mayBeAccepted = (name: OperationName) => movesValue(name) || mayBeQueued(name);

/** Returns the operation of the interface at an address. */
function nameOf(path: string): OperationName {
  const names = Object.keys(OPERATIONS) as OperationName[];
  return names.find((name) => path === `/api/v0.1${name.slice(name.indexOf(' ') + 1)}`) as OperationName;
}

/** Returns the method and the whole path of an operation of the interface. */
const address = (name: string) => name.replace(' ', ' /api/v0.1');
