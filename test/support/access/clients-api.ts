import type { ClientDto, FaultDto, KeyDto } from '../http/api';
import type { Answer, Method } from '../http/request';
import supertest, { TypedApiRequest, BodyOf } from '../http/supertest';
import { startProxy, TestProxy } from '../processes/proxy';

/** Providers of a client without tokens and page sessions. */
export const NO_PROVIDERS = {
  token_issuer: null,
  token_audience: null,
  token_jwks_uri: null,
  token_algorithms: [],
  token_client_id: null,
  token_dpop: false,
  token_max_age: 86_400,
  page_issuer: null,
  page_client_id: null,
};

type NewClientAnswer = BodyOf<'post', '/v1/clients', 201>;

/** Calls the clients API, as an administrator by default. */
export interface ClientsApi {
  proxy: TestProxy;
  ask<Verb extends Method, const Path extends string>(
    method: Verb,
    path: Path,
    body?: object,
    key?: string,
  ): TypedApiRequest<Verb, `/v1/clients${Path}`>;
  /** Creates a client of the kind `server`. */
  create(name: string, more?: object): Promise<NewClientAnswer & { key: string }>;
  /** Requests a client of the kind `public`. */
  createPublic(name: string, more?: object): TypedApiRequest<'post', '/v1/clients'>;
  change(name: string, body: object): Promise<ClientDto>;
  keysOf(name: string): Promise<KeyDto[]>;
  /** Returns the kind and the state of each key, such as `secret active`. */
  keyStatesOf(name: string): Promise<string[]>;
  close(): Promise<void>;
}

export async function startClientsApi(): Promise<ClientsApi> {
  const proxy = await startProxy({
    upstreamBaseUrl: 'http://127.0.0.1:1',
    extraFieldsAllowed: ['narration'],
  });
  const { key: admin } = await proxy.client('admin', 'admin');
  const ask: ClientsApi['ask'] = (method, path, body, key = admin) => {
    const request = supertest(proxy.url)[method](`/v1/clients${path}`).set('X-API-Key', key);
    return body === undefined ? request : request.send(body);
  };
  const keysOf = async (name: string): Promise<KeyDto[]> =>
    (await ask('get', `/${name}/keys` as '/{name}/keys').expect(200)).body.keys;
  return {
    proxy,
    ask,
    keysOf,
    keyStatesOf: async (name) => (await keysOf(name)).map(({ kind, state }) => `${kind} ${state}`),
    createPublic: (name, more = {}) =>
      ask('post', '', { name, kind: 'public', scopes: ['pay'], daily_cap_usd: 10, ...more }),
    change: async (name, body) => (await ask('patch', `/${name}` as '/{name}', body).expect(200)).body,
    create: async (name, more = {}) => {
      const body = { name, scopes: ['pay', 'read'], daily_cap_usd: null, ...more };
      const { key = '', ...created } = (await ask('post', '', body).expect(201)).body;
      return { ...created, key };
    },
    close: () => proxy.close(),
  };
}

interface RefusedBody {
  code?: string | undefined;
  errors?: FaultDto[] | undefined;
}

/** Returns the faults of a rejected request. */
export async function faultsOf(request: PromiseLike<Answer<RefusedBody>>): Promise<FaultDto[]> {
  const { body, status, type } = await request;
  expect([status, type]).toEqual([400, 'application/problem+json']);
  expect(body.code).toBe('invalid_request');
  return body.errors ?? [];
}
