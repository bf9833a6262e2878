import { ClientsService } from '../../../src/access/clients/clients.service';
import { Limits } from '../../../src/access/clients/limits/limits';
import { RunningConfig } from '../../../src/platform/config/config';
import supertest from '../http/supertest';
import { ApprovalScene, startApproving } from '../payments/approving';
import { TestProxy } from '../processes/proxy';

/** Clients with recipient registers, two proxies, and an administrator. */
export type RegisterScene = Awaited<ReturnType<typeof startRegistering>>;

export async function startRegistering(settings: Partial<RunningConfig> = {}) {
  const approving: ApprovalScene = await startApproving(settings);
  const admin = (await approving.proxy.client('admin', 'admin')).key;
  let count = 0;
  const airtimes = (...phones: string[]) => ({
    airtimes: phones.map((phoneNumber) => ({ countryToSend: 'Kenya', phoneNumber, valueInUSD: 1 })),
  });
  const change = (name: string, body: object, key = admin) =>
    supertest(approving.proxy.url).post(`/v1/clients/${name}/beneficiaries`).set('X-API-Key', key).send(body);
  return {
    approving,
    admin,
    airtimes,
    change,
    /** Creates a client with permission to pay. */
    client: async (limits: Partial<Limits> = {}) => {
      const made = await approving.proxy.client(`pays-${(count += 1)}`, 'pay', 'write', 'read', 'account');
      await approving.proxy.app.get(ClientsService, { strict: false }).update(made.name, limits);
      return made;
    },
    block: (name: string, ...add: string[]) => change(name, { list: 'blocked', add }).expect(200),
    allow: (name: string, ...add: string[]) => change(name, { list: 'allowed', add }).expect(200),
    newPhone: () => `+2547000${String(10_000 + (count += 1))}`,
    pay: (key: string, phones: string[], proxy: TestProxy = approving.proxy) =>
      proxy
        .post(key, '/payouts/airtime', airtimes(...phones))
        .set('Idempotency-Key', `register-${(count += 1)}`),
    credit: (key: string, item: object) =>
      approving.proxy.post(key, '/payouts/credit', { credits: [{ valueInUSD: 1, ...item }] }),
    idOf: ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'] ?? '',
    /** Returns the recorded changes of a client's register, newest first. */
    acts: async (name: string) => {
      const auditor = (await approving.proxy.client(`auditor-${(count += 1)}`, 'audit')).key;
      const path = `/v1/activity?client=${name}` as const;
      const { activity } = (await approving.proxy.get(auditor, path).expect(200)).body;
      return activity.filter(({ action }) => action.startsWith('beneficiary_'));
    },
  };
}
