import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AMOUNT_FIELDS, toJson } from './amounts.ts';
import { PayoutProxy } from './client.ts';

const baseUrl = 'https://payouts.example.com';
const credits = (valueInUSD: string) => ({ credits: [{ email: 'ada@example.com', valueInUSD }] });

describe('toJson', () => {
  it('writes decimal strings as numbers', () => {
    const amounts = ['0.1', '0.000001', '999999999.999999', '12.50', '3', '100000000'];
    for (const amount of amounts) {
      const written = toJson(credits(amount)).replace(/^.*:|\}\]\}$/g, '');
      expect(Number(written)).toBe(Number(amount));
      expect(written).toMatch(/^\d+(\.\d+)?$|^1e-6$/);
    }
    expect(toJson({ amount: 2, meta: { amount: '007' } })).toBe('{"amount":2,"meta":{"amount":"007"}}');
  });

  it.each(['', '1e3', '-1', '1,5', ' 1', '0x10', '1234567890.1234567'])(
    'rejects an amount that is not a decimal: %j',
    (text) => {
      expect(() => new PayoutProxy({ baseUrl, apiKey: 'key' }).payouts.credit(credits(text))).toThrow(
        TypeError,
      );
    },
  );

  it('accepts decimal strings in all number fields of the interface', () => {
    const document = JSON.parse(readFileSync(join(__dirname, '../../../openapi.json'), 'utf8')) as Document;
    const numbers = new Set<string>();
    const visit = (schema: Schema | undefined, name: string) => {
      if (!schema) return;
      if (schema.$ref) visit(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''], name);
      if (schema.type === 'number') numbers.add(name);
      for (const [field, inner] of Object.entries(schema.properties ?? {})) visit(inner, field);
      for (const inner of [schema.items, ...(schema.anyOf ?? [])]) visit(inner, name);
    };
    for (const [path, methods] of Object.entries(document.paths)) {
      if (!path.startsWith('/api/')) continue;
      for (const { requestBody } of Object.values(methods))
        visit(requestBody?.content['application/json']?.schema, '');
    }
    expect([...numbers].sort()).toEqual([...AMOUNT_FIELDS].sort());
  });
});

interface Schema {
  $ref?: string;
  type?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

interface Document {
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>;
}
