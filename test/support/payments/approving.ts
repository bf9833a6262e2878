import { RunningConfig } from '../../../src/platform/config/config';
import supertest, { TypedApiRequest, BodyOf } from '../http/supertest';
import { succeed } from '../network/fake-upstream';
import { startProxy, TestProxy } from '../processes/proxy';
import { copyIntent } from '../records/intents';
import { PaymentScene, startPaying } from './paying';

/** Two proxies on one database, held calls, and approvers. */
export interface ApprovalScene extends PaymentScene {
  /** Another process on the same database. */
  second: TestProxy;
  approver: { id: string; key: string };
  /** The app's client. */
  clientId: string;
  /** A paid call of 2.5 USD. The held calls are copies of it. */
  model: string;
  /** @returns the ID of a held call. Columns of its intent can be overridden. */
  hold(changes?: Record<string, unknown>): Promise<string>;
  decide<Decision extends 'approve' | 'reject'>(
    decision: Decision,
    id: string,
    body?: object,
    key?: string,
    proxy?: TestProxy,
  ): TypedApiRequest<'post', `/v1/approvals/${string}/${Decision}`>;
  /** Returns the call as its app sees it. */
  read(id: string): Promise<BodyOf<'get', '/v1/calls/{id}'>>;
  /** Returns the app's spending. Undefined if nothing was ever counted. */
  spent(): Promise<Record<string, unknown> | undefined>;
  /** Forgets the received requests and the spending, lifts the caps, and lets the upstream succeed. */
  reset(): Promise<void>;
  query: TestProxy['database']['query'];
}

export async function startApproving(settings: Partial<RunningConfig> = {}): Promise<ApprovalScene> {
  const paying = await startPaying(settings);
  const { proxy, upstream, app } = paying;
  const second = await startProxy({ upstreamBaseUrl: upstream.url, ...settings }, proxy.database);
  const approver = await proxy.client('approver', 'approve', 'audit');
  const model = (await paying.pay().expect(200)).headers['x-call-id'] ?? '';
  const query: ApprovalScene['query'] = (sql, parameters) => proxy.database.query(sql, parameters);
  const [row] = await query<{ client_id: string }>('SELECT client_id FROM intent WHERE id = $1', [model]);
  return {
    ...paying,
    second,
    approver,
    model,
    query,
    clientId: row?.client_id ?? '',
    hold: (changes = {}) => {
      const held = { held_for: 'over_threshold', expires_at: '2099-01-01T00:00:00Z', reserved_on: null };
      return copyIntent(proxy.database, model, { ...held, idempotency_key_commitment: null, ...changes });
    },
    decide: (decision, id, body = {}, key = approver.key, { url } = proxy) =>
      supertest(url)
        .post(`/v1/approvals/${id}/${decision}`)
        .set('X-API-Key', key)
        .send({ reason: 'agreed with Ada (ada@example.com)', ...body }),
    read: async (id) => (await proxy.get(app, `/v1/calls/${id}`).expect(200)).body,
    spent: async () => (await query('SELECT day::text, usd::text FROM spending'))[0],
    reset: async () => {
      upstream.received.length = 0;
      upstream.behaviour = succeed;
      await query('UPDATE client SET daily_cap_usd = NULL, monthly_cap_usd = NULL');
      await query('TRUNCATE spending');
    },
    close: async () => {
      await second.close();
      await paying.close();
    },
  };
}
