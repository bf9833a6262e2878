import { SourcesService } from '../../../src/reconciliation/sources/sources.service';
import { answer, FakeUpstream, reset } from '../../support/network/fake-upstream';
import { startProxy, TestProxy, UPSTREAM_KEY } from '../../support/processes/proxy';

const NOBODY = { causedBy: null, by: null };
const CHI_REF = '3f8a0c1e-9d0b-4c54-8f55-2f6d0a4f8f11';
const TRANSACTION = {
  id: 'Zk3x9Qw1Lm7Tn2Rb5Vc8',
  chiRef: CHI_REF,
  issueID: 'issuer_2.5_1700000000000',
  status: 'paid',
  issueDate: '2026-11-20T10:00:00.000Z',
  valueInUSD: '0.1',
  phoneNumber: '+254712345678',
  type: 'airtime',
};
const success = (data: unknown) => answer(200, { status: 'success', data });

describe('the sources', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let sources: SourcesService;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    sources = (await proxy.startWorker()).get(SourcesService);
  });

  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  const rowsOf = (readId: string) =>
    proxy.database.query('SELECT * FROM upstream_transaction WHERE read_id = $1 ORDER BY ordinal', [readId]);
  const endOf = async (readId: string) =>
    (await proxy.database.query('SELECT * FROM source_read_end WHERE read_id = $1', [readId]))[0];

  it('reads all transactions with the key, and keeps only the compared fields', async () => {
    upstream.behaviour = success([
      { ...TRANSACTION, redeemLink: 'https://pay.example.com', valueInUSD: 2.5000005 },
    ]);
    const read = await sources.transactions('main', NOBODY, null);
    expect(read).toMatchObject({ complete: true, failure: null, httpStatus: 200, rows: 1, kept: 1 });
    expect(upstream.received.at(-1)).toMatchObject({
      method: 'POST',
      url: '/api/v0.1/account/transactions',
      body: '{}',
    });
    expect(upstream.received.at(-1)?.headers).toMatchObject({
      'x-api-key': UPSTREAM_KEY,
      'accept-encoding': 'identity',
    });
    expect(await rowsOf(read.readId)).toEqual([
      {
        read_id: read.readId,
        ordinal: '0',
        upstream_ref: CHI_REF,
        upstream_id: TRANSACTION.id,
        batch_ref: TRANSACTION.issueID,
        issued_at: new Date(TRANSACTION.issueDate),
        type: 'airtime',
        status: 'paid',
        amount_usd: '2.500001',
        fee_usd: null,
        email: null,
        phone: '+254712345678',
        handle: null,
        receiver: null,
        country: null,
        network_code: null,
        reference: null,
        recipient_salt: expect.any(Buffer),
        recipient_commitment: null,
        receiver_salt: null,
        receiver_commitment: null,
        reference_salt: null,
        reference_commitment: null,
      },
    ]);
  });

  it('keeps only transactions issued in the window, and those without a readable time', async () => {
    const at = (issueDate: unknown) => ({ ...TRANSACTION, issueDate });
    upstream.behaviour = success({
      data: [
        at('2026-11-19T23:59:59.999Z'),
        at('2026-11-20T00:00:00Z'),
        at('whenever'),
        at('2026-11-21T00:00:00Z'),
      ],
      error: 'None',
    });
    const window = { from: new Date('2026-11-20'), to: new Date('2026-11-21') };
    const read = await sources.transactions('main', NOBODY, window);
    expect(read).toMatchObject({ complete: true, rows: 4, kept: 2 });
    expect((await rowsOf(read.readId)).map(({ ordinal }) => ordinal)).toEqual(['1', '2']);
    expect(await endOf(read.readId)).toMatchObject({ rows: '4', kept: '2', faults: 1 });
  });

  it('records the request before it sends a byte', async () => {
    let recorded: unknown[] = [];
    upstream.behaviour = async (request, response, socket) => {
      recorded = await proxy.database.query('SELECT source FROM source_read ORDER BY id DESC LIMIT 1');
      void success([])(request, response, socket);
    };
    await sources.batch('main', NOBODY, 'x');
    expect(recorded).toEqual([{ source: 'batch' }]);
  });

  it.each<[string, FakeUpstream['behaviour'], string, number | null]>([
    ['with an error', answer(200, { status: 'error', error: 'x' }), 'rejected', 200],
    ['with a rejection', answer(403, { status: 'error', error: 'x' }), 'rejected', 403],
    ['with a server error', answer(502, 'oops'), 'server_error', 502],
    ['with a redirect', answer(302, '', { location: '/' }), 'redirect', 302],
    ['without a status', answer(200, { data: [TRANSACTION] }), 'unreadable', 200],
    ['without a list', answer(200, { status: 'success', data: {} }), 'unreadable', 200],
    ['with compression', answer(200, '…', { 'content-encoding': 'gzip' }), 'unreadable', 200],
    [
      'with truncated JSON',
      answer(200, '{"status":"success","data":[{"chiRef":"a"},{"chi'),
      'unreadable',
      200,
    ],
    ['without an answer', reset, 'reset', null],
  ])('treats a listing %s as incomplete', async (_what, behaviour, failure, httpStatus) => {
    upstream.behaviour = behaviour;
    const read = await sources.transactions('main', NOBODY, null);
    expect(read).toMatchObject({ complete: false, failure, httpStatus });
    expect(await endOf(read.readId)).toMatchObject({ complete: false, failure, http_status: httpStatus });
  });

  it('reads the transactions of a batch, and one transaction, and reports missing ones', async () => {
    upstream.behaviour = success([TRANSACTION, { ...TRANSACTION, chiRef: 'other', id: 'another' }]);
    const batch = await sources.batch('main', NOBODY, TRANSACTION.issueID);
    expect(batch).toMatchObject({ complete: true, rows: 2, kept: 2 });
    expect((await rowsOf(batch.readId)).map(({ upstream_ref: ref }) => ref)).toEqual([CHI_REF, 'other']);

    upstream.behaviour = success(TRANSACTION);
    const one = await sources.transaction('main', NOBODY, TRANSACTION.id);
    expect(one).toMatchObject({ complete: true, rows: 1 });
    expect(upstream.received.at(-1)?.url).toBe(`/api/v0.1/account/transaction?id=${TRANSACTION.id}`);

    upstream.behaviour = success({ error: 'not found for that id' });
    expect(await sources.batch('main', NOBODY, 'x')).toMatchObject({
      complete: false,
      failure: 'rejected',
      rows: 0,
    });
  });

  it('treats an answer without the expected wallets as incomplete', async () => {
    upstream.behaviour = success({ message: 'come back later' });
    expect(await sources.wallets('main', NOBODY)).toMatchObject({
      complete: false,
      failure: 'unreadable',
      rows: 0,
    });
    upstream.behaviour = success([]);
    expect(await sources.wallets('main', NOBODY)).toMatchObject({ complete: true, rows: 0 });
  });

  it('keeps a transaction without its time if no column can hold it', async () => {
    upstream.behaviour = success([{ ...TRANSACTION, issueDate: '0000-01-01' }]);
    const { readId, complete } = await sources.batch('main', NOBODY, TRANSACTION.issueID);
    expect([complete, (await rowsOf(readId)).map(({ issued_at: at }) => at)]).toEqual([true, [null]]);
  });

  it('reads the wallets and their entries, newest first', async () => {
    const entry = (amount: number, balanceBefore: number, newBalance: string, _seconds: number) => ({
      amount,
      balanceBefore,
      newBalance,
      description: 'airtime to +254712345678',
      meta: { date: { _seconds, _nanoseconds: 5e6 } },
    });
    upstream.behaviour = success([
      {
        id: 'w',
        type: 'chi',
        balance: 529.0179999999988,
        transactions: [entry(-1, 3, '2', 1e9), entry(-0.5, 2, '1.5', 2e9)],
      },
    ]);
    const { readId } = await sources.wallets('main', NOBODY);
    const [wallets, entries] = await Promise.all(
      ['upstream_wallet', 'upstream_wallet_entry'].map((table) =>
        proxy.database.query(`SELECT * FROM ${table} WHERE read_id = $1`, [readId]),
      ),
    );
    expect(wallets).toEqual([{ read_id: readId, wallet_id: 'w', type: 'chi', balance: '529.0179999999988' }]);
    const common = { read_id: readId, wallet_id: 'w', description: 'airtime to +254••••5678' };
    expect(entries).toEqual([
      {
        ...common,
        ordinal: 0,
        amount: '-0.5',
        balance_before: '2',
        new_balance: '1.5',
        entered_at: new Date(2e12 + 5),
      },
      {
        ...common,
        ordinal: 1,
        amount: '-1',
        balance_before: '3',
        new_balance: '2',
        entered_at: new Date(1e12 + 5),
      },
    ]);
  });
});
