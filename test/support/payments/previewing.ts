import { ClientsService } from '../../../src/access/clients/clients.service';
import { Limits } from '../../../src/access/clients/limits/limits';
import { RunningConfig } from '../../../src/platform/config/config';
import type { Preview } from '../http/api';
import supertest, { TypedApiRequest } from '../http/supertest';
import { answer, Behaviour, FakeUpstream, succeed } from '../network/fake-upstream';
import { startProxy, TestProxy } from '../processes/proxy';

/** KES to the US dollar. */
const RATE = 129.5;

/** Answers the reads of previews as in docs/reference/upstream.md, and everything else with success. */
export const serving: Behaviour = (request, response, socket) => {
  const { pathname, searchParams } = new URL(request.url, 'http://upstream.example');
  const amountInUSD = searchParams.get('amountInUSD');
  const data: Record<string, unknown> = {
    '/api/v0.1/info/airtime-countries': ['Nigeria', 'Kenya', "Côte d'Ivoire"],
    '/api/v0.1/info/mobile-money-codes': [
      { name: 'M-Pesa', country: 'Kenya', code: 'MPS' },
      { name: 'MTN', country: 'Nigeria', code: 'MPS' },
    ],
    '/api/v0.1/info/usd-amount-in-local': {
      amountInUSD,
      destinationCurrency: searchParams.get('destinationCurrency'),
      amountInDestinationCurrency: Number(amountInUSD) * RATE,
      validUntil: '2099-01-01T00:00:00Z',
    },
  };
  if (!(pathname in data)) return succeed(request, response, socket);
  return answer(200, { status: 'success', data: data[pathname] })(request, response, socket);
};

export interface PreviewScene {
  proxy: TestProxy;
  upstream: FakeUpstream;
  auditor: string;
  /** A client for every operation of the interface, within limits. */
  client(
    limits?: Partial<Limits & { operations: string[] }>,
  ): Promise<{ id: string; name: string; key: string }>;
  limit(name: string, limits: Partial<Limits>): Promise<unknown>;
  ask<const Path extends string>(
    key: string,
    path: Path,
    body?: unknown,
    headers?: Record<string, string>,
  ): TypedApiRequest<'post', `/api/v0.1${Path}`>;
  /** Sends the preview of a request. */
  preview(key: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Preview>;
  /** Returns the operations that arrived at the upstream, without reads of lists and rates. */
  arrived(): string[];
  close(): Promise<void>;
}

export async function startPreviewing(settings: Partial<RunningConfig> = {}): Promise<PreviewScene> {
  const upstream = await FakeUpstream.start();
  upstream.behaviour = serving;
  const proxy = await startProxy({ upstreamBaseUrl: upstream.url, checkCoverage: true, ...settings });
  const clients = proxy.app.get(ClientsService, { strict: false });
  const auditor = (await proxy.client('auditor', 'audit', 'audit:pii')).key;
  let count = 0;
  const ask: PreviewScene['ask'] = (key, path, body, headers = {}) =>
    proxy.post(key, path, body as object).set(headers);
  return {
    proxy,
    upstream,
    auditor,
    ask,
    client: (limits = {}) =>
      clients.create(`app-${(count += 1)}`, ['pay', 'write', 'read', 'account'], limits),
    limit: (name, limits) => clients.update(name, limits),
    preview: async (key, path, body, headers = {}) => {
      const request = supertest(proxy.url).post(`/v1/preview${path}`).set('X-API-Key', key).set(headers);
      const response = await request.send(body as object).expect(200);
      expect(response.type).toBe('application/json');
      return response.body;
    },
    arrived: () =>
      upstream.received
        .map(({ method, url }) => `${method} ${url.replace('/api/v0.1', '')}`)
        .filter((line) => !line.startsWith('GET /info/')),
    close: async () => {
      await proxy.close();
      await upstream.stop();
    },
  };
}
