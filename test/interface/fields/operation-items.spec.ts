import { readFileSync } from 'node:fs';
import { INTERFACE_PREFIX, OPERATION_NAMES, pathOf } from '../../../src/operations/catalogue/catalogue';
import { itemFieldsOf } from '../../../src/operations/items/items';

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
}

describe('the items of the catalogue', () => {
  const document = JSON.parse(readFileSync('openapi.json', 'utf8')) as {
    paths: Record<
      string,
      { post?: { requestBody?: { content: { 'application/json': { schema: Schema } } } } }
    >;
    components: { schemas: Record<string, Schema> };
  };
  const resolve = (schema: Schema = {}): Schema =>
    schema.$ref === undefined
      ? schema
      : (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});

  it.each(OPERATION_NAMES.filter((name) => itemFieldsOf(name)))('name every field of %s', (name) => {
    const { in: list = '', fields = {}, unrecorded = [] } = itemFieldsOf(name) ?? {};
    const { requestBody } = document.paths[INTERFACE_PREFIX + pathOf(name)]?.post ?? {};
    const body = resolve(requestBody?.content['application/json'].schema);
    const item = list === 'the_body' ? body : resolve(body.properties?.[list]?.items);
    expect([...Object.values(fields), ...unrecorded].sort()).toEqual(
      Object.keys(item.properties ?? {}).sort(),
    );
  });
});
