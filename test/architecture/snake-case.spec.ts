import { TOKEN_ALGORITHMS } from '../../src/access/clients/providers';
import { OPERATIONS } from '../../src/operations/catalogue/catalogue';
import { API_DOCUMENT, follow, operationsIn, Schema } from '../support/http/api-document';

const SNAKE_CASE = /^[a-z0-9]+(_[a-z0-9]+)*$/;

/** Words with their own form: operations, scopes within scopes, and names of other standards. */
const EXCEPTIONS = [
  ...Object.keys(OPERATIONS),
  'audit:pii',
  'about:blank',
  'payout-proxy/receipt/1',
  'USD',
  ...TOKEN_ALGORITHMS,
];

/** The names of the properties and the enum values of a schema, and of all that it refers to. */
function wordsOf(schema: Schema, seen: Set<string>): string[] {
  if (schema.$ref !== undefined && seen.has(schema.$ref)) return [];
  if (schema.$ref !== undefined) seen.add(schema.$ref);
  const {
    properties = {},
    items,
    anyOf = [],
    allOf = [],
    additionalProperties,
    enum: words = [],
  } = follow(schema);
  const map = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  const inner = [...Object.values(properties), ...anyOf, ...allOf, items, map].flatMap((one) => one ?? []);
  return [
    ...Object.keys(properties),
    ...words.filter((word) => typeof word === 'string'),
    ...inner.flatMap((one) => wordsOf(one, seen)),
  ];
}

const badlyNamed = (words: string[]) =>
  words.filter((word) => !SNAKE_CASE.test(word) && !EXCEPTIONS.includes(word));

// The requests of `/api`, and of their previews, keep the names of the upstream's interface.
describe('the names of the API', () => {
  const operations = operationsIn().filter(({ path }) => !path.startsWith('/api/'));

  it('are snake_case in query and path parameters', () => {
    const parameters = operations
      .flatMap(({ operation }) => operation.parameters)
      .filter((one) => one.in !== 'header');
    expect(parameters.length).toBeGreaterThan(50);
    expect(
      badlyNamed(parameters.flatMap(({ name, schema }) => [name, ...wordsOf(schema, new Set())])),
    ).toEqual([]);
  });

  it.each(['requests', 'answers'])('are snake_case in %s', (what) => {
    const contents = operations.flatMap(({ path, operation: { requestBody, responses } }) => {
      if (what === 'answers') return Object.values(responses).map(({ content }) => content);
      return path.startsWith('/v1/preview/') ? [] : [requestBody?.content];
    });
    const schemas = contents.flatMap((content) => Object.values(content ?? {}).map(({ schema }) => schema));
    const seen = new Set<string>();
    expect(badlyNamed(schemas.flatMap((schema) => wordsOf(schema, seen)))).toEqual([]);
    expect(seen.size).toBeGreaterThan(9);
  });

  it('are snake_case in the enums of shared schemas', () => {
    const words = Object.values(API_DOCUMENT.components.schemas).flatMap((schema) => schema.enum ?? []);
    expect(badlyNamed(words as string[])).toEqual([]);
  });
});
