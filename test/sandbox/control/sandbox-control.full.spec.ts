import { QUIRKS } from '../../../src/sandbox/behaviour/behaviour';
import { SETTING_RULES } from '../../../src/sandbox/behaviour/behaviour-patch';
import { MAGIC, magicOf } from '../../../src/sandbox/behaviour/magic-recipients';
import { FAULTS } from '../../../src/sandbox/faults/table';
import { first } from '../../support/examples/first';
import {
  airtime,
  API_KEY,
  CONTROL_KEY,
  DEMO,
  startSandbox,
  TestSandbox,
} from '../../support/sandbox/sandbox';
import { askSandbox } from '../../support/sandbox/sandbox-answers';

const FIRST_SETTINGS = {
  quirks: QUIRKS,
  feePercent: 0,
  magicMs: 3_000,
  laterMs: 2_000,
  returnsFee: true,
  unpaidExpiresAfterMs: 604_800_000,
  listedAfterMs: { airtime: 0, momo: 0, credit: 0, transfer: 0, payment: 0 },
  words: { listed: {}, answered: {}, events: {} },
  lists: {
    transactions: { newest: null, frozenAt: null, withoutTypes: [] },
    entries: { newest: null, frozenAt: null, withoutTypes: [] },
  },
  events: { url: '', secret: 'sandbox-events', copies: 1, reversed: false },
};

describe('the control interface', () => {
  let sandbox: TestSandbox;

  beforeAll(async () => void (sandbox = await startSandbox()));
  afterAll(() => sandbox.close());
  beforeEach(() => sandbox.control('post', '/reset').expect(204));

  const settings = async () => (await sandbox.control('get', '/settings').expect(200)).body;
  const faultsOf = async (body: object): Promise<string[]> =>
    (await sandbox.control('patch', '/settings', body).expect(400)).body.faults;

  it('lists its routes, all of which exist', async () => {
    const { body: index } = await sandbox.control('get', '').expect(200);
    for (const line of Object.keys(index)) {
      const [method = '', path = ''] = line.split(' ');
      const known = path.replace('{id}', 'unheard-of').replace('/_sandbox', '');
      const { body } = await sandbox.control(method.toLowerCase() as 'get', known, {});
      expect([line, JSON.stringify(body)]).not.toEqual([line, expect.stringMatching(/lists the operations/)]);
    }
    const { body } = await sandbox.control('get', '/nothing').expect(404);
    expect(body).toMatchObject({
      error: expect.stringMatching(/GET \/_sandbox\/nothing does not exist; GET \/_sandbox lists/),
    });
  });

  it.each([
    ['no key', {}],
    ['another key', { 'X-Sandbox-Control-Key': 'control-kez' }],
    ['a longer key', { 'X-Sandbox-Control-Key': `${CONTROL_KEY}x` }],
    ['the API key in its header', { 'X-Sandbox-Control-Key': API_KEY }],
    ['the API key', { 'X-API-Key': API_KEY }],
    ['the control key as the API key', { 'X-API-Key': CONTROL_KEY }],
  ])('rejects %s', async (_case, headers: Record<string, string>) => {
    await sandbox.fault({ fault: 'delay' });
    for (const path of ['', '/requests', '/faults', '/nothing'] as const) {
      const { body } = await askSandbox(sandbox.url).get(`/_sandbox${path}`).set(headers).expect(401);
      expect(body).toMatchObject({
        error: expect.stringMatching(/send the control key in the header X-Sandbox-Control-Key/),
      });
    }
    await askSandbox(sandbox.url).delete('/_sandbox/faults').set(headers).expect(401);
    expect((await sandbox.control('get', '/faults')).body).toHaveLength(1);
  });

  it('gives no access to the service, and is absent from the ground truth', async () => {
    const path = '/api/v0.1/wallets/list';
    await askSandbox(sandbox.url).get(path).set('X-Sandbox-Control-Key', CONTROL_KEY).expect(401);
    await askSandbox(sandbox.url).get(path).set('X-API-Key', CONTROL_KEY).expect(401);
    await settings();
    expect(await sandbox.requests()).toHaveLength(2);
  });

  it('shows the ledger', async () => {
    await sandbox.post('/payouts/airtime', airtime(0.1)).expect(200);
    const { body } = await sandbox.control('get', '/ledger').expect(200);
    const wallet = { account: '00000000-0000-4000-8000-000000000001', type: 'airtime', balance: '9999.9' };
    expect(body.accounts).toContainEqual(wallet);
  });

  it('lists the accounts with their wallets, and opens more', async () => {
    await sandbox.post('/payouts/airtime', airtime(0.1)).expect(200);
    const accounts = async () => (await sandbox.control('get', '/accounts').expect(200)).body;
    const [demo, ...others] = await accounts();
    expect(demo).toEqual({
      id: DEMO,
      name: 'Demo account',
      parent: null,
      wallets: [
        { type: 'chi', balance: '10000' },
        { type: 'momo', balance: '10000' },
        { type: 'airtime', balance: '9999.9' },
      ],
    });
    expect(others.map(({ name, parent }) => [name, parent])).toEqual([
      ['Field office North', DEMO],
      ['Field office South', DEMO],
    ]);
    await sandbox.control('post', '/accounts', { name: 'Second shop', openingBalance: 100 }).expect(201);
    expect((await accounts()).at(-1)).toMatchObject({ name: 'Second shop', parent: null });
    expect(JSON.stringify(await accounts())).not.toMatch(/key/i);
  });

  it('lists the kinds of faults, each with its defaults', async () => {
    const { body: kinds } = await sandbox.control('get', '/faults/kinds').expect(200);
    expect(kinds.map(({ fault }) => fault)).toEqual(Object.keys(FAULTS));
    expect(kinds[0]).toEqual({
      fault: 'delay',
      does: 'waits `ms`, then carries the operation out and answers normally',
      processed: true,
      choosesProcessed: false,
      settings: [{ name: 'ms', default: 3_000, must: 'a whole number from 0 to 600000' }],
    });
    for (const { fault, processed, settings } of kinds) {
      const defaults = Object.fromEntries(settings.map((setting) => [setting.name, setting.default]));
      expect(await sandbox.fault({ fault })).toMatchObject({ fault, processed, ...defaults });
      await sandbox.fault({ fault, processed, ...defaults });
    }
  });

  it('lists the magic recipients in the form of requests', async () => {
    const { body: recipients } = await sandbox.control('get', '/magic-recipients').expect(200);
    expect(recipients.map(({ name }) => name)).toEqual(Object.keys(MAGIC));
    for (const { name, phoneNumber, email, twitter } of recipients) {
      expect([{ phoneNumber }, { email }, { twitter }].map(magicOf)).toEqual([name, name, name]);
    }
    expect(recipients.find(({ name }) => name === 'pending')?.does).toBe('pending forever');
  });

  it('accepts the settings that it returns', async () => {
    expect(await settings()).toEqual(FIRST_SETTINGS);
    expect(Object.keys(FIRST_SETTINGS).sort()).toEqual(Object.keys(SETTING_RULES).sort());
    const { body } = await sandbox.control('patch', '/settings', FIRST_SETTINGS).expect(200);
    expect(body).toEqual(FIRST_SETTINGS);
  });

  it('changes the given settings, and keeps the others', async () => {
    const quirks = { floatBalances: true, errorNone: false };
    const change = { quirks, feePercent: 2.5, listedAfterMs: { momo: 7 }, events: { copies: 3 } };
    const { body } = await sandbox.control('patch', '/settings', change).expect(200);
    expect(body).toEqual({
      ...FIRST_SETTINGS,
      quirks: { ...QUIRKS, floatBalances: true, errorNone: false },
      feePercent: 2.5,
      listedAfterMs: { ...FIRST_SETTINGS.listedAfterMs, momo: 7 },
      events: { ...FIRST_SETTINGS.events, copies: 3 },
    });
    expect(await settings()).toEqual(body);
  });

  it('rejects settings with a list of every fault, and changes nothing', async () => {
    const faults = await faultsOf({
      quirks: { floatBalances: 'yes', unheardOf: true },
      feePercent: '1',
      magicMs: 600_001,
      unpaidExpiresAfterMs: 0,
      listedAfterMs: { momo: -1, gift: 5 },
      events: { url: 'ftp://x', secret: '', copies: 11, reversed: 1 },
      colour: 'red',
    });
    expect(faults).toEqual([
      'feePercent must be a number from 0 to 100',
      'magicMs must be a whole number from 0 to 600000',
      'unpaidExpiresAfterMs must be a whole number from 1 to 315360000000',
      'colour is unknown; the fields are feePercent, magicMs, laterMs, returnsFee, unpaidExpiresAfterMs, ' +
        'listedAfterMs, quirks, words, lists, events',
      'quirks.floatBalances must be true or false',
      `quirks.unheardOf is unknown; the fields are ${Object.keys(QUIRKS).join(', ')}`,
      'listedAfterMs.momo must be a whole number from 0 to 600000',
      'listedAfterMs.gift is unknown; the fields are airtime, momo, credit, transfer, payment',
      'events.url must be an http:// or https:// address, or empty',
      'events.secret must be a text without blanks around it',
      'events.copies must be a whole number from 1 to 10',
      'events.reversed must be true or false',
    ]);
    expect(await faultsOf({ feePercent: 5, quirks: [] })).toEqual(['quirks must be an object']);
    expect(await faultsOf([])).toHaveLength(1);
    const broken = await sandbox
      .control('patch', '/settings')
      .set('Content-Type', 'text/plain')
      .send('{"feePercent":');
    expect(broken.body).toEqual({ error: 'the body must be JSON', faults: ['the body must be JSON'] });
    expect(await settings()).toEqual(FIRST_SETTINGS);
  });

  it('resets everything', async () => {
    await sandbox.fault({ fault: 'error500', operation: 'POST /send' });
    await sandbox
      .control('patch', '/settings', { feePercent: 3, quirks: { floatBalances: true } })
      .expect(200);
    const { body } = await sandbox.post('/payouts/airtime', airtime(10)).expect(200);
    await sandbox.control('post', '/reset').expect(204);
    expect(await sandbox.requests()).toEqual([]);
    expect((await sandbox.control('get', '/faults')).body).toEqual([]);
    expect((await sandbox.control('get', '/events')).body).toEqual([]);
    expect(await settings()).toEqual(FIRST_SETTINGS);
    expect(await sandbox.balance('airtime')).toBe(10_000);
    const gone = await sandbox.get(`/account/transaction?id=${first(body.data.data).id}`).expect(200);
    expect(gone.body.data).toEqual({ error: 'not found for that id' });
  });
});
