import { methodOf, OPERATIONS } from '../../src/operations/catalogue/catalogue';
import { createSandbox, Sandbox } from '../../src/sandbox/app';
import { TransactionRecord } from '../../src/sandbox/transactions/record';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { first } from '../support/examples/first';
import { DOCUMENTED, OBSERVED } from '../support/http/interface';
import { dataOf, InterfaceClient, RawAnswer } from '../support/http/interface-client';
import { startProxyWithSandbox, UPSTREAM_KEY } from '../support/processes/proxy';

/** Identifiers from earlier answers. */
interface KnownIds {
  paid: TransactionRecord;
  credit: TransactionRecord;
  unpaid: TransactionRecord;
  transfer: { tnxID: string | undefined };
  collection: TransactionRecord;
  account: { id: string; uid: string };
  wallet: { id: string };
}

type Step = (client: InterfaceClient, seen: KnownIds) => Promise<RawAnswer>;

/**
 * Sends everything documented in the interface to a sandbox and to a proxy with another sandbox, in the same
 * order. Compares the answers byte for byte, except IDs and times.
 */
const SCENARIO: Record<string, Step> = {
  'the wallets': (client) => client.wallets(),
  'the wallets by POST': (client) => client.walletsByPost(),
  'the sub-accounts': (client) => client.subAccounts(),
  'send, by e-mail and by handle': (client) =>
    client.send(
      [
        { email: 'ada@example.com', valueInUSD: 1.5, twitter: '' },
        { twitter: '@ada', valueInUSD: 2 },
      ],
      'Prizes',
    ),
  'send, with e-mail and handle': (client) =>
    client.send([{ email: 'a@example.com', twitter: '@a', valueInUSD: 3 }]),
  'pay out airtime': (client) =>
    client.payOutAirtime([
      { countryToSend: 'Nigeria', phoneNumber: '+2348012345678', valueInUSD: 0.1 },
      { countryToSend: 'kenya', phoneNumber: '+254712345678', valueInUSD: 0.2 },
    ]),
  'pay out mobile money': async (client, seen) => {
    const paid = await client.payOutMobileMoney([
      { countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 5, reference: '', momoCode: 'MPS' },
    ]);
    seen.paid = first(dataOf('POST /payouts/mobile-money', paid).credits);
    return paid;
  },
  'pay out credit': async (client, seen) => {
    const paid = await client.payOutCredit([{ twitter: '@ada', valueInUSD: 4 }]);
    seen.credit = first(dataOf('POST /payouts/credit', paid).data);
    return paid;
  },
  'initiate a credit payout': async (client, seen) => {
    const initiated = await client.initiateCredit([{ email: 'ada@example.com', valueInUSD: 1e-6 }], 'Prizes');
    seen.unpaid = first(dataOf('POST /payouts/initiate-credit', initiated).data);
    return initiated;
  },
  'transfer to a sub-account': async (client, seen) => {
    const [subAccount] = dataOf('GET /sub-account/list', await client.subAccounts());
    const moved = await client.transfer(subAccount!.uid, 12.34, 'airtime');
    seen.transfer = dataOf('POST /account/transfer', moved).data;
    return moved;
  },
  'read a transaction': (client, seen) => client.transaction(seen.paid.id),
  'read a transfer': (client, seen) => client.transaction(seen.transfer.tnxID ?? ''),
  'read a transaction that is none': (client) => client.transaction('Zk3x9Qw1Lm7Tn2Rb5Vc8'),
  'delete an unpaid transaction': (client, seen) => client.deleteUnpaid(seen.unpaid.chiRef),
  'delete it again': (client, seen) => client.deleteUnpaid(seen.unpaid.chiRef),
  'delete a paid transaction': (client, seen) => client.deleteUnpaid(seen.paid.chiRef),
  'pay out more than there is': (client) =>
    client.payOutCredit([{ email: 'ada@example.com', valueInUSD: 999_999 }]),
  'transfer to nobody': (client) => client.transfer('00000000-0000-4000-8000-00000000ffff', 1),
  'all transactions': (client) => client.transactions(),
  'the transactions of a batch': (client, seen) => client.transactionsOfIssue(seen.paid.issueID),
  'the transactions of no batch': (client) => client.transactionsOfIssue('none_0_0'),
  assets: (client) => client.assets(),
  'airtime countries': (client) => client.airtimeCountries(),
  'mobile money codes': (client) => client.mobileMoneyCodes(),
  'US dollars in a local currency': (client) => client.usdInLocal('KES', '100'),
  'a local amount in US dollars': (client) => client.localInUsd('NGN', '20.5'),
  'an unknown currency': (client) => client.usdInLocal('XXX', '100'),
  collect: (client) => client.collect(charge('collect-1')),
  'initiate a collection': async (client, seen) => {
    const initiated = await client.initiateCollection(charge('initiate-1'));
    seen.collection = dataOf('POST /collections/mobile-money/initiate', initiated);
    return initiated;
  },
  'verify a collection': (client, seen) => client.verifyCollection(seen.collection.id),
  'verify a collection that is none': (client) => client.verifyCollection('Zk3x9Qw1Lm7Tn2Rb5Vc8'),
  'redeem airtime': (client, seen) => client.redeemAirtime(redemption(seen.credit.chiRef)),
  'redeem it again': (client, seen) => client.redeemAirtime(redemption(seen.credit.chiRef)),
  'create a sub-account': async (client, seen) => {
    const made = await client.createSubAccount({
      name: 'Field office West',
      email: 'west@example.com',
      meta: { a: 1 },
    });
    seen.account = dataOf('POST /sub-account/create', made);
    return made;
  },
  'get a sub-account': async (client, seen) => {
    const got = await client.subAccount(seen.account.id);
    seen.wallet = first(dataOf('GET /sub-account/get', got).wallets);
    return got;
  },
  'get a sub-account that is none': (client) => client.subAccount('00000000-0000-4000-8000-00000000ffff'),
  'transfer between wallets': (client, seen) =>
    client.transferBetweenWallets({ receiver: seen.account.uid, valueInUSD: 1.25, wallet: 'momo' }),
  'look a wallet up': (client, seen) => client.lookUpWallet(seen.wallet.id),
  'the wallets at last': (client) => client.wallets(),
};

const charge = (tx_ref: string) => ({
  amount: 1250.5,
  currency: 'KES',
  phone_number: '+254712345678',
  fullname: 'Ada Otieno',
  country: 'Kenya',
  email: 'ada@example.com',
  tx_ref,
});
const redemption = (chiRef: string) => ({ chiRef, phoneNumber: '+254712345678', countryToSend: 'Kenya' });

/** The example of every operation, including new ones. */
const EXAMPLES = [...DOCUMENTED, ...OBSERVED].map(({ operation, path, body }): [string, Step] => [
  `the example of ${operation}`,
  (client) => (methodOf(operation) === 'GET' ? client.get(path) : client.post(path, body)),
]);

describe('a client written from the interface alone', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let database: TestDatabase;
  let sandbox: Sandbox;
  let direct: InterfaceClient;
  let proxied: InterfaceClient;
  let auditor: string;
  const seen = { direct: {} as KnownIds, proxied: {} as KnownIds };

  beforeAll(async () => {
    proxy = await startProxyWithSandbox();
    database = await createTestDatabase();
    sandbox = await createSandbox({ databaseUrl: database.sandboxUrl, port: 0, apiKey: UPSTREAM_KEY });
    direct = new InterfaceClient(sandbox.url, UPSTREAM_KEY);
    proxied = new InterfaceClient(
      proxy.url,
      (await proxy.client('app', 'pay', 'write', 'read', 'account')).key,
    );
    auditor = (await proxy.client('auditor', 'audit')).key;
  });
  afterAll(async () => {
    await proxy.close();
    await sandbox.close();
    await database.close();
  });

  it.each([...Object.entries(SCENARIO), ...EXAMPLES])(
    'gets the same answers from the sandbox and the proxy: %s',
    async (_what, step) => {
      const expected = await step(direct, seen.direct);
      const actual = await step(proxied, seen.proxied);
      expect(bare(actual)).toEqual(bare(expected));
      expect(expected.text).not.toContain('no operation'); // the sandbox knows the operation
    },
  );

  it('leaves each of its requests in the history', async () => {
    const { body } = await proxy.get(auditor, '/v1/audit/calls?page_size=200').expect(200);
    const operations = new Set((body.calls as { operation: string }[]).map(({ operation }) => operation));
    expect([...operations].sort()).toEqual(Object.keys(OPERATIONS).sort());
  });
});

/** Removes values that differ between services: IDs, times and the base address. */
function bare({ status, contentType, text }: RawAnswer): object {
  return {
    status,
    contentType,
    text: text
      .replace(/http:\/\/127\.0\.0\.1:\d+/g, '<origin>')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>')
      // The proxy fills in the ID of the payout or of the call.
      .replaceAll('"reference":"<uuid>.0"', '"reference":""')
      .replaceAll(',"meta":{"description":"Ref <uuid>"}', '')
      .replaceAll('"meta":{"reference":"<uuid>"},', '')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
      .replace(/"_(nano)?seconds":\d+/g, '"_$1seconds":<time>')
      .replace(/_\d{13}(?=["& ])/g, '_<time>')
      .replace(/"[A-Za-z0-9]{20}"/g, '"<id>"'),
  };
}
