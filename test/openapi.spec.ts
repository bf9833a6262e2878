import SwaggerParser from '@apidevtools/swagger-parser';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeApi } from '../src/cli/api-document';
import { movesValue, OperationName, OPERATIONS, rowOf } from '../src/operations/catalogue';

describe('the OpenAPI document', () => {
  it('is the one in openapi.json (npm run openapi writes it anew)', async () => {
    const golden = JSON.parse(readFileSync(join(__dirname, '..', 'openapi.json'), 'utf8'));
    expect(JSON.parse(JSON.stringify(await describeApi()))).toEqual(golden);
  });

  it('is valid OpenAPI 3.1', async () => {
    const document = JSON.parse(JSON.stringify(await describeApi()));
    expect(document.openapi).toBe('3.1.0');
    await expect(SwaggerParser.validate(document)).resolves.toBeDefined();
  });

  it('describes every field of every body with its format and limits, and closes every body', async () => {
    const { paths, components } = (await describeApi()) as any;
    const schemas = new Map<string, any>();
    const collect = (ref: string) => {
      const name = ref.split('/').at(-1) ?? '';
      if (schemas.has(name)) return;
      schemas.set(name, components.schemas[name]);
      for (const { items } of Object.values<any>(components.schemas[name].properties ?? {}))
        if (items?.$ref) collect(items.$ref);
    };
    for (const { requestBody } of Object.values<any>(paths).flatMap(({ post, patch }) => [post ?? {}, patch ?? {}])) {
      const own = requestBody?.content['application/json']?.schema.$ref; // files, and the upstream's events, are not
      if (own) collect(own);
    }
    expect(schemas.size).toBeGreaterThan(9);
    for (const [name, { additionalProperties, properties = {} }] of schemas) {
      expect([name, additionalProperties]).toEqual([name, false]);
      for (const [field, schema] of Object.entries<any>(properties)) {
        const forms = (schema.anyOf ?? [schema]) as any[];
        expect([name, field, schema.description === undefined, forms.every(isLimited)]).toEqual([
          name,
          field,
          false,
          true,
        ]);
      }
    }
  });

  it('says of each operation, for programs, whether the upstream documents it', async () => {
    const { paths } = (await describeApi()) as any;
    const sources = Object.entries<any>(paths)
      .filter(([path]) => path.startsWith('/api/v0.1'))
      .flatMap(([, { get, post }]) => [get, post].flatMap((one) => one?.['x-source'] ?? []));
    const count = (source: string) => sources.filter((one) => one === source).length;
    expect([count('documented'), count('observed')]).toEqual([11, 15]); // /wallets/list has two methods
  });

  it('describes on each answer the headers that each answer carries', async () => {
    const { paths } = (await describeApi()) as any;
    for (const [path, { parameters, get, post }] of Object.entries<any>(paths)) {
      expect([path, parameters.map(({ $ref }: any) => $ref.split('/').at(-1))]).toEqual([
        path,
        ['X-Request-Id', 'traceparent', 'X-Actor', ...(path.startsWith('/v1/') ? ['X-People'] : [])],
      ]);
      const limited = /^\/(api|v1)\//.test(path) ? ['RateLimit-Policy', 'RateLimit'] : [];
      for (const [status, { headers }] of [get, post].flatMap((one) => Object.entries<any>(one?.responses ?? {}))) {
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
        const place = status === '202' && running ? ['Location'] : [];
        const cookie = path === '/v1/session' && headers === post.responses['200'].headers ? ['Set-Cookie'] : [];
        expect([path, status, Object.keys(headers)]).toEqual([
          path,
          status,
          ['X-Request-Id', 'X-Call-Id', 'Server-Timing', ...limited, ...retry, ...count, ...place, ...cookie],
        ]);
      }
    }
  });

  it('offers an idempotency key where something is paid, made or unmade, and nowhere else', async () => {
    const { paths } = (await describeApi()) as any;
    for (const [operation, { effect }] of Object.entries(OPERATIONS)) {
      const [method = '', path] = operation.split(' ');
      const { parameters = [] } = paths[`/api/v0.1${path}`][method.toLowerCase()];
      const named = parameters.some(({ name }: any) => name === 'Idempotency-Key');
      expect([operation, named]).toEqual([operation, effect !== 'read']);
    }
  });

  it('describes a preview of each operation that is no read, and gives each route an id of its own', async () => {
    const { paths } = (await describeApi()) as any;
    const previews = Object.keys(paths).filter((path) => path.startsWith('/v1/preview/'));
    const tried = Object.entries(OPERATIONS).filter(([, { effect }]) => effect !== 'read');
    expect(previews.sort()).toEqual(tried.map(([name]) => `/v1/preview${name.slice('POST '.length)}`).sort());
    for (const path of previews) {
      const { post } = paths[path];
      const body = paths[path.replace('/v1/preview', '/api/v0.1')].post.requestBody;
      expect([path, post.requestBody, Object.keys(post.responses)]).toEqual([
        path,
        body,
        ['200', '400', '401', '403', '429', '500', '503'],
      ]);
      expect(post.responses['200'].content['application/json'].schema.$ref).toMatch(/\/Preview$/);
    }
    const ids = Object.values<any>(paths).flatMap((path) =>
      Object.values<any>(path).flatMap((one) => one.operationId ?? []),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('describes each field of each answer, and what may be null as that', async () => {
    const { components } = (await describeApi()) as any;
    const undescribed = Object.entries<any>(components.schemas).flatMap(([name, { properties }]) =>
      Object.entries<any>(properties ?? {})
        .filter(([, { description, enum: words, $ref }]) => !description && !words && !$ref)
        .map(([field]) => `${name}.${field}`),
    );
    expect(undescribed).toEqual([]);
    const { recipient_field, total_usd, position } = {
      ...components.schemas.CallRecord.properties,
      ...components.schemas.RecordItem.properties,
    };
    expect(recipient_field.anyOf).toEqual([expect.objectContaining({ type: 'string' }), { type: 'null' }]);
    expect(total_usd.anyOf).toEqual([expect.objectContaining({ type: 'string' }), { type: 'null' }]);
    expect(position.type).toBe('integer');
  });

  it('names every error of every operation', async () => {
    const { paths } = (await describeApi()) as any;
    const operations = Object.entries<any>(paths).filter(([path]) => path.startsWith('/api/v0.1'));
    for (const [path, { get, post }] of operations) {
      for (const { responses } of [get, post].filter((one) => one !== undefined)) {
        const name = nameOf(path);
        const own = rowOf(name).effect === 'read' ? [] : ['409', '422', ...(movesValue(name) ? ['202'] : [])];
        const each = ['200', '400', '401', '403', '429', '500', '502', '503', '504', ...own].sort();
        expect([path, Object.keys(responses)]).toEqual([path, [...each, '4XX']]);
      }
    }
  });
});

/** The operation of the interface at an address. */
function nameOf(path: string): OperationName {
  const names = Object.keys(OPERATIONS) as OperationName[];
  return names.find((name) => path === `/api/v0.1${name.slice(name.indexOf(' ') + 1)}`) as OperationName;
}

/** What is free-form says its limits in its description. */
function isLimited(schema: any): boolean {
  const limits = ['maxLength', 'maximum', 'maxItems', 'pattern', 'enum'];
  return (
    limits.some((name) => name in schema) ||
    schema.additionalProperties === true ||
    ['date-time', 'uuid'].includes(schema.format) ||
    ['null', 'boolean'].includes(schema.type)
  );
}
