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
        const limited = schema.maxLength ?? schema.maximum ?? schema.maxItems ?? schema.pattern;
        expect([name, field, schema.description === undefined, limited === undefined]).toEqual([
          name,
          field,
          false,
          false,
        ]);
      }
    }
  });

  it('names every error of every operation', async () => {
    const { paths } = (await describeApi()) as any;
    const operations = Object.entries<any>(paths).filter(([path]) => path.startsWith('/api/v0.1'));
    for (const [path, methods] of operations) {
      for (const { responses } of Object.values<any>(methods)) {
        expect([path, Object.keys(responses)]).toEqual([
          path,
          ['200', '400', '401', '403', '500', '502', '503', '504'],
        ]);
      }
    }
  });
});
