import { ClientsService } from '../../../src/access/clients/clients.service';
import { settle } from '../../../src/journal/settlement/settlements';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import type { CallTimeline } from '../http/api';
import supertest from '../http/supertest';
import { answer, reset } from '../network/fake-upstream';
import { eventually, PaymentScene, startPaying } from '../payments/paying';
import { copyIntent } from '../records/intents';

export const ADA = { email: 'ada.lovelace@example.com', twitter: '@AdaLovelace', phone: '+254712345678' };

const CREDITS = [
  { email: ADA.email, twitter: ADA.twitter, valueInUSD: 2.5 },
  { email: 'bob@example.com', valueInUSD: 1.25 },
];
const MOMOS = [
  { countryToSend: 'Kenya', momoCode: 'MPS', phoneNumber: ADA.phone, valueInUSD: 3, reference: 'order 17' },
];
const TRANSACTIONS = {
  status: 'success',
  data: {
    error: 'None',
    data: [
      {
        chiRef: 'chi-1',
        id: 'transaction-1',
        issueID: 'batch-1',
        email: ADA.email,
        valueInUSD: 2.5,
        status: 'paid',
      },
      {
        chiRef: 'chi-2',
        id: 'transaction-2',
        issueID: 'batch-1',
        email: 'bob@example.com',
        valueInUSD: 1.25,
      },
      { chiRef: 'chi-3', id: 'transaction-3', issueID: 'batch-1', email: 'eve@example.com', valueInUSD: 9 },
    ],
  },
};

/** The answer to a payout that is reversed later. */
const REVERSED = {
  chiRef: 'chi-4',
  id: 'transaction-4',
  issueID: 'batch-4',
  phoneNumber: ADA.phone,
  valueInUSD: 4,
  status: 'paid',
};
const TIMEOUTS = { upstreamTimeoutMs: 30_000, upstreamTimeouts: new Map<string, number>() };

/** A proxy with a call of each kind of timeline. */
export interface CallTimelines extends PaymentScene {
  approver: string;
  /** IDs, by outcome. */
  calls: Record<
    | 'paid'
    | 'rejected'
    | 'refused'
    | 'repeated'
    | 'held'
    | 'approved'
    | 'declined'
    | 'doubtful'
    | 'settled'
    | 'followed',
    string
  >;
  timeline(id: string, headers?: Record<string, string>): Promise<CallTimeline>;
}

async function makeCallTimelines(): Promise<CallTimelines> {
  const paying = await startPaying();
  const { proxy, upstream, app } = paying;
  await proxy.client('approver', 'approve', 'audit');
  // The app acts for a person, so another person decides, with a personal key.
  const clients = proxy.app.get(ClientsService, { strict: false });
  const approver = (await clients.issueKey('approver', { person: 'hopper' })).key;
  const pay = async (status: number, body: object = { credits: CREDITS }, key?: string) => {
    const path = 'momos' in body ? '/payouts/mobile-money' : '/payouts/credit';
    const asked = proxy.post(app, path, body).set('X-Actor', 'grace');
    const { headers } = await (key === undefined ? asked : asked.set('Idempotency-Key', key)).expect(status);
    return headers['x-call-id'] ?? '';
  };
  const post = (path: string, body: object) =>
    supertest(proxy.url).post(path).set('X-API-Key', approver).send(body).expect(200);

  upstream.behaviour = answer(200, TRANSACTIONS);
  const paid = await pay(200, { credits: CREDITS }, 'order-17');
  const hold = () =>
    copyIntent(proxy.database, paid, {
      held_for: 'over_threshold',
      expires_at: '2099-01-01T00:00:00Z',
      reserved_on: null,
      idempotency_key_commitment: null,
    });
  const repeated = await pay(422, { credits: CREDITS.slice(0, 1) }, 'order-17');
  const [held, approved, declined] = [await hold(), await hold(), await hold()];
  await post(`/v1/approvals/${approved}/approve`, { reason: `agreed with ${ADA.email}` });
  await post(`/v1/approvals/${declined}/reject`, { reason: 'nobody knows order 17' });
  upstream.behaviour = answer(200, { status: 'success', data: { error: 'None', data: [REVERSED] } });
  const followed = await pay(200, { momos: MOMOS.map((momo) => ({ ...momo, valueInUSD: 4 })) });
  await settle(proxy.app.get(PrismaService), followed, TIMEOUTS, ({ items: [item] }) => ({
    intentId: followed,
    source: 'poll',
    reason: 'The upstream lists the payout with this status now.',
    by: null,
    entries: [{ position: 0, entry: 'reversed', transaction: { ...item!.transaction!, status: 'REVERSED' } }],
    evidence: { reads: [], calls: [] },
  }));
  upstream.behaviour = answer(400, { status: 'error', error: 'Insufficient balance of 254712345678' });
  const rejected = await pay(400, { momos: MOMOS });
  const refused = await pay(400, { credits: [{ valueInUSD: -1 }, { email: 'x', valueInUSD: 1 }] });
  upstream.behaviour = reset;
  const [doubtful, settled] = [await pay(502), await pay(502)];
  await post(`/v1/calls/${settled}/resolution`, { outcome: 'not_executed', reason: 'the provider says so' });
  return {
    ...paying,
    approver,
    calls: { paid, rejected, refused, repeated, held, approved, declined, doubtful, settled, followed },
    timeline: async (id, headers = {}) =>
      (await proxy.get(paying.auditor, `/v1/audit/calls/${id}`).set(headers).expect(200)).body,
  };
}

let timelines: Promise<CallTimelines> | undefined;

/** Shared within a spec file, which closes it. All its records are sealed. */
export const callTimelines = () => (timelines ??= makeSealedTimelines());

async function makeSealedTimelines(): Promise<CallTimelines> {
  const made = await makeCallTimelines();
  await made.proxy.startWorker();
  const isSealed = async (id: string) => {
    const { body } = await made.proxy.get(made.auditor, `/v1/audit/log/proof?call=${id}`);
    return body.unsealed?.length === 0;
  };
  for (const id of Object.values(made.calls)) await eventually(() => isSealed(id));
  return made;
}
