import SwaggerParser from '@apidevtools/swagger-parser';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeApi } from '../src/cli/openapi';

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
        if (items) collect(items.$ref);
    };
    for (const { post } of Object.values<any>(paths)) {
      if (post?.requestBody) collect(post.requestBody.content['application/json'].schema.$ref);
    }
    expect(schemas.size).toBeGreaterThan(9);
    for (const [name, { additionalProperties, properties = {} }] of schemas) {
      expect([name, additionalProperties]).toEqual([name, false]);
      for (const [field, schema] of Object.entries<any>(properties)) {
        const freeForm = schema.additionalProperties === true; // its limits stand in its description
        const limited =
          schema.maxLength ??
          schema.maximum ??
          schema.maxItems ??
          schema.pattern ??
          schema.enum ??
          (freeForm || undefined);
        expect([name, field, schema.description === undefined, limited === undefined]).toEqual([
          name,
          field,
          false,
          false,
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
        ['X-Request-Id', 'traceparent'],
      ]);
      for (const [status, { headers }] of [get, post].flatMap((one) => Object.entries<any>(one?.responses ?? {}))) {
        const retry = status === '503' && path !== '/readyz' ? ['Retry-After'] : [];
        expect([path, status, Object.keys(headers)]).toEqual([
          path,
          status,
          ['X-Request-Id', 'X-Call-Id', 'Server-Timing', ...retry],
        ]);
      }
    }
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
        expect([path, Object.keys(responses)]).toEqual([
          path,
          ['200', '400', '401', '403', '500', '502', '503', '504', '4XX'],
        ]);
      }
    }
  });
});
