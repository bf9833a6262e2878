import { OpenAPIObject } from '@nestjs/swagger';
import { shareEqualParts } from './openapi-components';

const query = (name: string, description: string) => ({ name, in: 'query' as const, description });
const get = (responses: Record<string, object>, parameters: ReturnType<typeof query>[] = []) => ({
  get: { responses: responses as Record<string, { description: string }>, parameters },
});

function shared(paths: OpenAPIObject['paths']): OpenAPIObject {
  const document = { openapi: '3.1.0', info: { title: 'test', version: '1' }, paths };
  shareEqualParts(document);
  return document;
}

describe('shareEqualParts', () => {
  it('moves equal responses into components under their suggested name', () => {
    const notFound = { 'x-name': 'NotFound', description: 'It does not exist.' };
    const { components, paths } = shared({ '/a': get({ 404: { ...notFound } }), '/b': get({ 404: { ...notFound } }) });
    expect(components?.responses).toEqual({ NotFound: { description: 'It does not exist.' } });
    expect(paths['/a']?.get?.responses[404]).toEqual({ $ref: '#/components/responses/NotFound' });
    expect(paths['/b']?.get?.responses[404]).toEqual({ $ref: '#/components/responses/NotFound' });
  });

  it('keeps a response that occurs once in place, without the suggested name', () => {
    const { components, paths } = shared({ '/a': get({ 404: { 'x-name': 'NotFound', description: 'Unknown.' } }) });
    expect(components?.responses).toEqual({});
    expect(paths['/a']?.get?.responses[404]).toEqual({ description: 'Unknown.' });
  });

  it('names an answer after its schema', () => {
    const content = { 'application/json': { schema: { $ref: '#/components/schemas/Page' } } };
    const page = () => get({ 200: { description: 'A page.', content } });
    expect(Object.keys(shared({ '/a': page(), '/b': page() }).components?.responses ?? {})).toEqual(['Page']);
  });

  it('adds the resource to the name of all but the most common of different parameters with one name', () => {
    const { components } = shared({
      '/v1/calls': get({}, [query('from', 'A call.'), query('page_size', 'Any.')]),
      '/v1/calls/{id}/items': get({}, [query('page_size', 'Any.')]),
      '/v1/calls/{id}': get({}, [query('from', 'A call.')]),
      '/v1/calls/{id}/story': get({}, [query('from', 'A call.')]),
      '/v1/findings': get({}, [query('from', 'A finding.')]),
      '/v1/findings/{id}': get({}, [query('from', 'A finding.')]),
    });
    expect(Object.keys(components?.parameters ?? {})).toEqual(['findings.from', 'from', 'page_size']);
  });

  it('leaves out empty lists of parameters', () => {
    const { paths } = shared({ '/a': get({}), '/b': get({}, [query('from', 'A call.')]) });
    expect(paths['/a']?.get).toEqual({ responses: {} });
    expect(paths['/b']?.get?.parameters).toHaveLength(1);
  });

  it('fails when two different responses still have the same name', () => {
    const response = (description: string) => ({ 200: { 'x-name': 'Page', description } });
    const paths = {
      '/a': response('One.'),
      '/b': response('One.'),
      '/c/a': response('Two.'),
      '/d/a': response('Two.'),
      '/e/a': response('Three.'),
      '/f/a': response('Three.'),
    };
    const routes = Object.fromEntries(Object.entries(paths).map(([path, responses]) => [path, get(responses)]));
    expect(() => shared(routes)).toThrow('Two different responses of the API document are named a.Page.');
  });
});
