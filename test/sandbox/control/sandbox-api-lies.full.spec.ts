import { ENTRY_TYPES as BOOKED, LISTED_TYPES } from '../../../src/admin/sandbox-api/lies.dto';
import { defaultBehaviour } from '../../../src/sandbox/behaviour/behaviour';
import { ENTRY_TYPES, LISTED_TYPES as SANDBOX_TYPES } from '../../../src/sandbox/behaviour/lies';
import { EXTRA_ENTRIES } from '../../../src/sandbox/control/changes';
import { DEMO } from '../../support/sandbox/sandbox';
import { Method, startSandboxApi, TestSandboxApi } from '../../support/sandbox/sandbox-api';

const AIRTIME = 'POST /payouts/airtime';
const asInSandbox = (types: readonly string[]) => types.map((type) => type.replaceAll('_', '-'));

/** Settings that outlast one request. */
describe('the lies of the sandbox API', () => {
  let api: TestSandboxApi;

  beforeAll(async () => void (api = await startSandboxApi()));
  afterEach(async () => {
    await api.ask('delete', '/lies').expect(200);
    api.expectNoSecrets();
  });
  afterAll(() => api.close());

  const change = async (path: string, body: object) =>
    (await api.ask('patch', path as '/lies/fees', body).expect(200)).body;
  const lies = async () => (await api.look()).lies;

  it('end with a reset, and are off by default', async () => {
    const none = await lies();
    const { feePercent, returnsFee, listedAfterMs, words } = defaultBehaviour();
    const list = { newest: null, frozen_at: null, without_types: [] };
    const honest = {
      fee_percent: feePercent.toNumber(),
      returns_fee: returnsFee,
      listed_after_ms: listedAfterMs,
      words,
    };
    expect(none).toEqual({ ...honest, transactions: list, entries: list });
    await change('/lies/fees', { percent: 2, returned: false });
    await change('/lies/listing-delay', { type: 'momo', ms: 5 });
    await change('/lies/words', { shown_in: 'events', status: 'failed', word: 'OOPS' });
    await change('/lies/lists', { list: 'entries', newest: 1, frozen: true, without_types: ['top_up'] });
    expect(await lies()).not.toEqual(none);
    expect((await api.ask('delete', '/lies').expect(200)).body).toEqual(none);
    expect(await lies()).toEqual(none);
  });

  it('list the types of the sandbox', () => {
    expect(LISTED_TYPES.transactions).toEqual(SANDBOX_TYPES);
    expect(asInSandbox(LISTED_TYPES.entries)).toEqual(ENTRY_TYPES.filter((type) => type !== 'opening'));
    expect(asInSandbox(BOOKED)).toEqual(Object.keys(EXTRA_ENTRIES));
  });

  it('charge a fee for each payout', async () => {
    expect(await change('/lies/fees', { percent: 2.5 })).toMatchObject({
      fee_percent: 2.5,
      returns_fee: true,
    });
    const before = await api.balance(DEMO, 'airtime');
    const { body } = await api.sample(AIRTIME);
    await api.send(AIRTIME, {
      body: { ...body, airtimes: [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 10 }] },
    });
    expect(before.minus(await api.balance(DEMO, 'airtime')).toFixed()).toBe('10.25');
  });

  it('change one word, and keep the others', async () => {
    await change('/lies/words', { shown_in: 'listed', status: 'paid', word: 'SETTLED_T2' });
    await change('/lies/words', { shown_in: 'listed', status: 'failed', word: 'OOPS' });
    const { words } = await change('/lies/words', { shown_in: 'listed', status: 'failed' });
    expect(words).toEqual({ listed: { paid: 'SETTLED_T2' }, answered: {}, events: {} });
  });

  it('keep settings omitted from a change', async () => {
    const before = Date.now();
    await change('/lies/lists', { list: 'transactions', newest: 3, frozen: true });
    const { transactions } = await change('/lies/lists', { list: 'transactions', without_types: ['momo'] });
    expect(transactions).toMatchObject({ newest: 3, without_types: ['momo'] });
    expect(Date.parse(transactions.frozen_at!)).toBeGreaterThanOrEqual(before);
    const after = await change('/lies/lists', { list: 'transactions', newest: null, frozen: false });
    expect(after.transactions).toEqual({ newest: null, frozen_at: null, without_types: ['momo'] });
    const { listed_after_ms: late } = await change('/lies/listing-delay', { type: 'credit', ms: 60_000 });
    expect(late).toEqual({ airtime: 0, momo: 0, credit: 60_000, transfer: 0, payment: 0 });
  });

  it.each([
    ['fee', '-0.5'],
    ['withdrawal', '-0.5'],
    ['top_up', '0.5'],
  ] as const)('book a %s without a transaction', async (type, changed) => {
    const before = await api.balance(DEMO, 'momo');
    await api.ask('post', '/entries', { type, wallet: 'momo', usd: 0.5 }).expect(204);
    expect((await api.balance(DEMO, 'momo')).minus(before).toFixed()).toBe(changed);
  });

  it.each<[Method, string, object, string[]]>([
    ['patch', '/lies/fees', { percent: 101, returned: 1 }, ['/percent', '/returned']],
    ['patch', '/lies/listing-delay', { type: 'cash', ms: -1 }, ['/ms', '/type']],
    [
      'patch',
      '/lies/words',
      { shown_in: 'dreams', status: 'odd', word: '' },
      ['/shown_in', '/status', '/word'],
    ],
    ['patch', '/lies/words', { shown_in: 'listed', status: 'paid', word: ' late ' }, ['']],
    [
      'patch',
      '/lies/lists',
      { list: 'people', newest: 0.5, without_types: ['cash'] },
      ['/list', '/newest', '/without_types'],
    ],
    ['patch', '/lies/lists', { list: 'transactions', without_types: ['fee'] }, ['/without_types']],
    ['post', '/entries', { type: 'gift', wallet: 'purse', usd: 0 }, ['/type', '/usd', '/wallet']],
  ])('are rejected with each fault: %s %s %j', async (method, path, body, pointers) => {
    const { body: problem } = await api.ask(method, path as '/lies/fees', body).expect(400);
    expect(
      (problem as { errors?: { pointer: string }[] }).errors?.map(({ pointer }) => pointer).sort(),
    ).toEqual(pointers);
  });
});
