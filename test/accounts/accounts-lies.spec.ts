import { INestApplicationContext } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { ClientsService } from '../../src/access/clients/clients.service';
import { Secret } from '../../src/platform/config/secrets/secret';
import { FollowUpService } from '../../src/reconciliation/following/follow-up.service';
import { PollService } from '../../src/reconciliation/in-doubt/rounds/poll.service';
import { ResolverService } from '../../src/reconciliation/in-doubt/rounds/resolver.service';
import { answer, FakeUpstream } from '../support/network/fake-upstream';
import { airtime, PaymentScene, startPaying } from '../support/payments/paying';

/** A transaction of the honest account that the other one may name. */
const transaction = (number: number, phoneNumber: string, more: object = {}) => ({
  chiRef: `ref-${number}`,
  id: `id-${number}`,
  issueID: `issue-${number}`,
  issueDate: new Date().toISOString(),
  type: 'airtime',
  status: 'paid',
  phoneNumber,
  valueInUSD: 2.5,
  ...more,
});
type ListedPayment = ReturnType<typeof transaction>;

const phone = (number: number) => `+2547000000${String(number).padStart(2, '0')}`;

/** The service behind one account is taken over. It answers and lists whatever its attacker likes. */
describe('a lying upstream account', () => {
  let honest: PaymentScene;
  let liar: FakeUpstream;
  let worker: INestApplicationContext;
  let victim: string;
  let accomplice: string;
  let listed: ListedPayment[] = [];
  let lies: ListedPayment[] = [];
  let lost = false;
  let number = 0;

  const serve = (
    upstream: FakeUpstream,
    list: () => ListedPayment[],
    made: (phoneNumber: string) => ListedPayment,
  ) => {
    upstream.behaviour = (request, response, socket) => {
      if (request.url.endsWith('/account/transactions')) {
        return answer(200, { status: 'success', data: list() })(request, response, socket);
      }
      if (!request.url.endsWith('/payouts/airtime')) {
        return answer(200, { status: 'success', data: {} })(request, response, socket);
      }
      const { airtimes } = JSON.parse(request.body) as { airtimes: { phoneNumber: string }[] };
      const data = airtimes.map(({ phoneNumber }) => made(phoneNumber));
      if (lost && upstream === honest.upstream) return socket.resetAndDestroy();
      return answer(200, { status: 'success', data: { data, error: 'None' } })(request, response, socket);
    };
  };

  beforeAll(async () => {
    liar = await FakeUpstream.start();
    const kenya = { name: 'kenya', baseUrl: liar.url, apiKey: new Secret('key-of-the-taken-account') };
    honest = await startPaying({
      namedAccounts: [
        {
          ...kenya,
          webhookSecret: undefined,
          subAccount: undefined,
          wallet: undefined,
          fees: new Map<string, string>(),
        },
      ],
      resolverQuietSeconds: 3_600,
    });
    serve(
      honest.upstream,
      () => listed,
      (phoneNumber) => {
        const made = transaction((number += 1), phoneNumber);
        listed.push(made);
        return made;
      },
    );
    const clients = honest.proxy.app.get(ClientsService, { strict: false });
    const scopes = ['pay', 'write', 'read'];
    victim = (await honest.proxy.client('victim', 'pay', 'write', 'read')).key;
    accomplice = (await clients.create('accomplice', scopes, { account: 'kenya' })).key;
    worker = await honest.proxy.startWorker();
    worker.get(PollService).rules.quietMs = 0;
  });
  afterAll(async () => {
    await honest.close();
    await liar.stop();
  });

  const pay = (key: string, to: string) => honest.proxy.post(key, '/payouts/airtime', airtime(to));
  const recordOf = async ({ headers }: { headers: Record<string, string> }) => honest.record({ headers });
  /** Pays with the accomplice, whose upstream says that it made these. */
  const lie = async (...made: ListedPayment[]) => {
    serve(
      liar,
      () => lies,
      () => made[0]!,
    );
    await pay(accomplice, phone(99)).expect(200);
  };

  it('claims no transaction for a call in doubt of another account', async () => {
    await pay(victim, phone(1)).expect(200);
    lost = true;
    const inDoubt = await pay(victim, phone(2)).expect(502);
    lost = false;
    await pay(victim, phone(3)).expect(200);
    await lie(listed[1]!);
    await worker.get(ResolverService).runOnce();
    expect((await recordOf(inDoubt)).outcome).toBe('confirmed');
  });

  it('changes no payout of another account through its list', async () => {
    const paid = await pay(victim, phone(4)).expect(200);
    lies = [{ ...listed.at(-1)!, status: 'failed' }];
    await lie(transaction(1_000, phone(99)));
    await worker.get(FollowUpService).runOnce('kenya');
    expect((await recordOf(paid)).items).toMatchObject([{ state: 'paid' }]);
  });

  it('assigns no transaction of another account to itself or anyone else', async () => {
    const paid = await pay(victim, phone(5)).expect(200);
    const own = listed.at(-1)!;
    await lie(own);
    const read = (key: string) => honest.proxy.get(key, `/api/v0.1/account/transaction?id=${own.id}`);
    await read(victim).expect(200);
    const asked = honest.upstream.received.length;
    await read(accomplice).expect(200); // of its own account, which knows nothing true
    expect(honest.upstream.received.length).toBe(asked);
    expect((await recordOf(paid)).outcome).toBe('succeeded');
  });

  it('reveals no amount of a transaction to a client of another account', async () => {
    const clients = honest.proxy.app.get(ClientsService, { strict: false });
    const { key } = await clients.create('capped', ['write', 'account'], { maxItemUsd: new Decimal(10) });
    const credit = { ...transaction(2_000, phone(6)), valueInUSD: 500, type: 'credit' };
    listed.push(credit);
    await lie({ ...credit, valueInUSD: 0.01 });
    const redeem = { chiRef: credit.chiRef, phoneNumber: phone(7), countryToSend: 'Kenya' };
    const refused = await honest.proxy.post(key, '/redeem/airtime', redeem).expect(403);
    expect(refused.body.code).toBe('cap_exceeded');
  });
});
