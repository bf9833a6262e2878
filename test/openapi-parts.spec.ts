import { API_DOCUMENT, METHODS } from './support/api-document';

const { components, paths, 'x-every-operation': every } = API_DOCUMENT;

const operations = Object.values(paths).flatMap((path) => METHODS.flatMap((method) => path[method] ?? []));

/** The parts that are written out more than once, each as JSON. */
function repeated(parts: object[]): string[] {
  const inline = parts.filter((part) => !('$ref' in part)).map((part) => JSON.stringify(part));
  return [...new Set(inline.filter((part, index) => inline.indexOf(part) !== index))];
}

describe('the OpenAPI documents, taken together', () => {
  it('writes out each response once', () => {
    const inline = operations.flatMap(({ responses }) => Object.values(responses));
    expect(repeated([...inline, ...Object.values(components.responses)])).toEqual([]);
  });

  it('writes out each parameter once', () => {
    const inline = operations.flatMap(({ parameters = [] }) => parameters);
    expect(repeated([...inline, ...Object.values(components.parameters)])).toEqual([]);
  });

  it('shares only parts that several operations use', () => {
    const text = JSON.stringify(API_DOCUMENT);
    const references = [
      ...Object.keys(components.responses).map((name) => `"#/components/responses/${name}"`),
      ...Object.keys(components.parameters).map((name) => `"#/components/parameters/${name}"`),
    ].filter((reference) => !JSON.stringify(every).includes(reference));
    expect(references.filter((reference) => text.split(reference).length < 3)).toEqual([]);
  });

  it('gives each operation its own identifier', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids.filter((id) => !/^[a-z][A-Za-z0-9]*$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
