import supertest from 'supertest';
import { startProxy, TestProxy } from './proxy';

/** Calls the API of clients, as an administrator unless another key is given. */
export interface ClientsApi {
  proxy: TestProxy;
  ask(method: 'get' | 'post' | 'patch' | 'delete', path: string, body?: object, key?: string): supertest.Test;
  create(name: string, more?: object): Promise<any>;
  close(): Promise<void>;
}

export async function startClientsApi(): Promise<ClientsApi> {
  const proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1', extraFieldsAllowed: ['narration'] });
  const { key: admin } = await proxy.client('admin', 'admin');
  const ask: ClientsApi['ask'] = (method, path, body, key = admin) => {
    const request = supertest(proxy.url)[method](`/v1/clients${path}`).set('X-API-Key', key);
    return body === undefined ? request : request.send(body);
  };
  return {
    proxy,
    ask,
    create: async (name, more = {}) =>
      (await ask('post', '', { name, scopes: ['pay', 'read'], ...more }).expect(201)).body,
    close: () => proxy.close(),
  };
}

/** Returns the faults of a rejected request. */
export async function faultsOf(request: supertest.Test): Promise<{ pointer: string; detail: string }[]> {
  const { body } = await request.expect(400).expect('Content-Type', /^application\/problem\+json/);
  expect(body.code).toBe('invalid_request');
  return body.errors;
}
