import SwaggerParser from '@apidevtools/swagger-parser';
import { describeApi } from '../../src/cli/api-document';
import { movesValue, namedObjectOf, OperationName, OPERATIONS, rowOf } from '../../src/operations/catalogue/catalogue';
import { API_DOCUMENT as document, API_DOCUMENTS, follow, operationsIn, Schema } from '../support/http/api-document';

describe('the OpenAPI documents', () => {
  it('equal openapi.json and openapi.staff.json, which npm run openapi writes', async () => {
    expect(await describeApi()).toEqual(API_DOCUMENTS);
  });

  it('leave no timer behind when they are written', async () => {
    const [begun, ended] = [jest.spyOn(globalThis, 'setInterval'), jest.spyOn(globalThis, 'clearInterval')];
    await describeApi();
    const cleared = ended.mock.calls.flat();
    expect(begun.mock.results.filter(({ value }) => !cleared.includes(value as NodeJS.Timeout))).toEqual([]);
    expect(begun.mock.calls.length).toBeGreaterThan(0);
    for (const mock of [begun, ended]) mock.mockRestore();
  });

  it.each(['apps', 'staff'] as const)('are valid OpenAPI 3.1: %s', async (audience) => {
    const copy = structuredClone(API_DOCUMENTS[audience]);
    expect(copy.openapi).toBe('3.1.0');
    await expect(SwaggerParser.validate(copy as never)).resolves.toBeDefined();
  });

  it.each([
    ['apps', ['key', 'access_token', 'bound_access_token', 'page_session']],
    ['staff', ['key', 'console_session']],
  ] as const)('name the credentials that open each route, and no others: %s', (audience, credentials) => {
    const { components, paths } = API_DOCUMENTS[audience];
    expect(Object.keys(components.securitySchemes).sort()).toEqual([...credentials].sort());
    const securityOf = (path: string, method: 'get' | 'post') =>
      paths[path]?.[method]?.security.map(Object.keys).flat();
    if (audience === 'apps') {
      expect(securityOf('/api/v0.1/payouts/airtime', 'post')).toEqual(credentials);
      expect(securityOf('/v1/ephemeral-keys', 'post')).toEqual(['key']);
      expect(securityOf('/v1/page-sessions/{client}', 'get')).toEqual(['page_session']);
    } else {
      expect(securityOf('/v1/audit/calls', 'get')).toEqual(credentials);
      expect(securityOf('/livez', 'get')).toEqual([]);
    }
  });

  it('have a description of each operation, parameter, tag and credential', () => {
    for (const { components, tags } of Object.values(API_DOCUMENTS)) {
      for (const { description } of [...tags, ...Object.values(components.securitySchemes)])
        expect(description).toBeTruthy();
    }
    const bare = operationsIn().flatMap(({ path, operation: { summary, description, parameters } }) =>
      summary && description && parameters.every((one) => one.description) ? [] : [path],
    );
    expect(bare).toEqual([]);
  });

  it('describe to apps only what apps may call, and everything else to operators and auditors', () => {
    const resources = (audience: keyof typeof API_DOCUMENTS) => [
      ...new Set(Object.keys(API_DOCUMENTS[audience].paths).map((path) => /^\/[^/]+(\/[^/]+)?/.exec(path)![0])),
    ];
    expect(resources('apps').sort()).toEqual([
      '/api/v0.1',
      '/v1/calls',
      '/v1/ephemeral-keys',
      '/v1/limits',
      '/v1/page-sessions',
      '/v1/payouts',
      '/v1/preview',
    ]);
    expect(resources('staff')).toEqual(expect.arrayContaining(['/v1/audit', '/v1/clients', '/v1/stops', '/livez']));
    const shared = Object.keys(API_DOCUMENTS.apps.paths).filter((path) => path in API_DOCUMENTS.staff.paths);
    expect(shared).toEqual([]);
    expect(Object.keys(API_DOCUMENTS.apps.components.schemas)).not.toContain('ClientDto');
  });

  it('describes every field of every body with its format and limits, and closes every body', () => {
    const schemas = new Map<string, Schema>();
    const collect = (ref: string) => {
      const name = ref.split('/').at(-1) ?? '';
      const schema = document.components.schemas[name];
      if (schemas.has(name) || !schema || schema.enum) return;
      schemas.set(name, schema);
      for (const property of Object.values(schema.properties ?? {})) {
        const { items } = follow(property, document);
        if (items?.$ref) collect(items.$ref);
      }
    };
    for (const { operation } of operationsIn(document)) {
      const own = operation.requestBody?.content['application/json']?.schema.$ref; // files and the upstream's events have none
      if (own) collect(own);
    }
    expect(schemas.size).toBeGreaterThan(9);
    for (const [name, { additionalProperties, properties = {} }] of schemas) {
      expect([name, additionalProperties]).toEqual([name, false]);
      for (const [field, schema] of Object.entries(properties)) {
        const { anyOf, description } = follow(schema, document);
        const forms = (anyOf ?? [schema]).map((form) => follow(form, document));
        expect([name, field, description === undefined, forms.every(isLimited)]).toEqual([name, field, false, true]);
      }
    }
  });

  it('give each operation its own identifier', () => {
    const ids = operationsIn().map(({ operation }) => operation.operationId);
    expect(ids.filter((id) => !/^[a-z][A-Za-z0-9]*$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('states for each operation, for programs, whether the upstream documents it', () => {
    const sources = operationsIn(document)
      .filter(({ path }) => path.startsWith('/api/v0.1'))
      .flatMap(({ operation }) => operation['x-source'] ?? []);
    const count = (source: string) => sources.filter((one) => one === source).length;
    expect([count('documented'), count('observed')]).toEqual([11, 15]); // /wallets/list has two methods
  });

  it('describes to readers the headers of every response', () => {
    const names = [...document.info.description.matchAll(/^- `([^`]+)`: /gm)].map(([, name]) => name);
    expect(names).toEqual(['X-Request-Id', 'X-Call-Id', 'Server-Timing', 'RateLimit-Policy', 'RateLimit']);
  });

  it('describes the headers of the requests and answers of each operation', () => {
    for (const { path, method, operation, shared } of operationsIn(document)) {
      const ofAny = ['X-Request-Id', 'traceparent', 'X-Actor'];
      expect([path, shared]).toEqual([path, path.startsWith('/v1/') ? [...ofAny, 'X-People'] : ofAny]);
      for (const [status, { headers = {} }] of Object.entries(operation.responses)) {
        const sealing = [
          '/v1/audit/log/checkpoint',
          '/v1/audit/log/consistency',
          '/v1/calls/{id}/receipt',
          '/v1/audit/calls/{id}/receipt',
        ].includes(path);
        const running = ['/v1/reconciliation/runs', '/v1/reconciliation/runs/{id}/report'].includes(path);
        const comesBack =
          ['429', '503'].includes(status) || (status === '409' && (sealing || running || path.startsWith('/api/')));
        const retry = comesBack && path !== '/readyz' ? ['Retry-After'] : [];
        const count = path === '/v1/audit/export' && status === '200' ? ['Link', 'X-Total-Count'] : [];
        const held = status === '202' && (running || path.startsWith('/api/'));
        const accepted = held ? ['Location', 'Retry-After'] : [];
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

  it('offers an idempotency key for operations that pay or write, and for no others', () => {
    const described = operationsIn(document);
    for (const [name, { effect }] of Object.entries(OPERATIONS)) {
      const found = described.find(({ path, method }) => `${method.toUpperCase()} ${path}` === address(name));
      const named = found?.operation.parameters.some((parameter) => parameter.name === 'Idempotency-Key');
      expect([name, named]).toEqual([name, effect !== 'read']);
    }
  });

  it('describes a preview of each operation that is not a read', () => {
    const posts = new Map(
      operationsIn(document).flatMap(({ path, method, operation }) => (method === 'post' ? [[path, operation]] : [])),
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

  it('describes each field of each response, and which can be null', () => {
    const { schemas } = document.components;
    const undescribed = Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties)
        .filter(([, { description, enum: words, $ref }]) => !description && !words && !$ref)
        .map(([field]) => `${name}.${field}`),
    );
    expect(undescribed).toEqual([]);
    const { recipient_field, position } = schemas.RecordItem?.properties ?? {};
    const { total_usd } = schemas.CallRecord?.properties ?? {};
    const typesOf = (schema?: Schema) => schema?.anyOf?.map(({ type }) => type);
    expect(typesOf(recipient_field)).toEqual(['string', 'null']);
    expect(typesOf(total_usd)).toEqual(['string', 'null']);
    expect(position?.type).toBe('integer');
  });

  it('names every error of every operation', () => {
    const operations = operationsIn(document).filter(({ path }) => path.startsWith('/api/v0.1'));
    for (const { path, operation } of operations) {
      const name = nameOf(path);
      const changes = rowOf(name).effect === 'read' ? [] : ['409', '422', ...(movesValue(name) ? ['202'] : [])];
      const names = namedObjectOf(name) === undefined ? [] : ['404'];
      const each = ['200', '400', '401', '403', '429', '500', '502', '503', '504', ...changes, ...names].sort();
      expect([path, Object.keys(operation.responses)]).toEqual([path, [...each, '4XX']]);
    }
  });
});

/** The operation of the interface at an address. */
function nameOf(path: string): OperationName {
  const names = Object.keys(OPERATIONS) as OperationName[];
  return names.find((name) => path === `/api/v0.1${name.slice(name.indexOf(' ') + 1)}`) as OperationName;
}

/** The method and the whole path of an operation of the interface. */
const address = (name: string) => name.replace(' ', ' /api/v0.1');

/** What is free-form says its limits in its description. */
function isLimited(schema: Schema): boolean {
  const limits = ['maxLength', 'maximum', 'maxItems', 'pattern', 'enum'];
  return (
    limits.some((name) => name in schema) ||
    schema.additionalProperties === true ||
    ['date-time', 'uuid'].includes(schema.format ?? '') ||
    [schema.type ?? ''].flat().every((type) => ['null', 'boolean'].includes(type))
  );
}
