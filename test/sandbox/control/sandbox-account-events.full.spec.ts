import { createHmac } from 'node:crypto';
import { FakeUpstream, hang, ReceivedRequest } from '../../support/network/fake-upstream';
import { eventually } from '../../support/payments/paying';
import { airtime, startSandbox, TestSandbox } from '../../support/sandbox/sandbox';
import { askSandbox } from '../../support/sandbox/sandbox-answers';

const SECRET = 'secret of the settings';
const OWN_SECRET = 'secret of the account';

describe('the events of an account with its own webhook URL', () => {
  let sandbox: TestSandbox;
  let everyone: FakeUpstream;
  let receiver: FakeUpstream;

  beforeAll(async () => void (sandbox = await startSandbox()));
  afterAll(() => sandbox.close());
  beforeEach(async () => {
    await sandbox.control('post', '/reset').expect(204);
    everyone = await FakeUpstream.start();
    receiver = await FakeUpstream.start();
  });
  afterEach(async () => {
    await everyone.stop();
    await receiver.stop();
  });

  const listen = () =>
    sandbox.control('patch', '/settings', { events: { url: everyone.url, secret: SECRET } }).expect(200);
  const open = async (own: object = { eventsUrl: receiver.url, eventsSecret: OWN_SECRET }) => {
    const account = { name: 'Second shop', openingBalance: 100, ...own };
    const { apiKey } = (await sandbox.control('post', '/accounts', account).expect(201)).body;
    return <const Path extends string>(path: Path, body: object) =>
      askSandbox(sandbox.url).post(`/api/v0.1${path}`).set('X-API-Key', apiKey).send(body);
  };
  const amountsOf = ({ received }: FakeUpstream) =>
    received.map(({ body }) => (JSON.parse(body) as { amount: number }).amount);
  const pending = async () =>
    (await sandbox.control('get', '/events').expect(200)).body.filter(
      ({ deliveredAt }) => deliveredAt === null,
    );
  const delivered = () => eventually(async () => (await pending()).length === 0);
  const isSigned = ({ headers, body }: ReceivedRequest, secret: string) => {
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
    const mac = createHmac('sha256', secret).update(signed).digest('base64');
    return headers['webhook-signature'] === `v1,${mac}`;
  };

  it("go only to that URL, signed with the account's secret", async () => {
    await listen();
    const post = await open();
    await post('/payouts/airtime', airtime(2));
    await sandbox.post('/payouts/airtime', airtime(3)).expect(200);
    await delivered();
    expect([amountsOf(receiver), amountsOf(everyone)]).toEqual([[2], [3]]);
    expect(receiver.received.map((event) => isSigned(event, OWN_SECRET))).toEqual([true]);
    expect(everyone.received.map((event) => isSigned(event, SECRET))).toEqual([true]);
  });

  it('include the events of its sub-accounts', async () => {
    const post = await open();
    const account = { name: 'Branch', email: 'branch@example.org' };
    const { id: subAccount } = (await post('/sub-account/create', account)).body.data as { id: string };
    await post('/wallets/transfer', { receiver: subAccount, valueInUSD: 5, wallet: 'airtime' });
    await post('/payouts/airtime', { ...airtime(2), subAccount });
    await delivered();
    expect(amountsOf(receiver)).toEqual([5, 2]);
  });

  it('are the only ones without a configured URL', async () => {
    const post = await open();
    await sandbox.post('/payouts/airtime', airtime(3)).expect(200);
    await post('/payouts/airtime', airtime(2));
    await delivered();
    expect(amountsOf(receiver)).toEqual([2]);
    await listen();
    await sandbox.post('/payouts/airtime', airtime(4)).expect(200);
    await delivered();
    expect([amountsOf(receiver), amountsOf(everyone)]).toEqual([[2], [4]]);
  });

  it('are signed with the configured secret for an account without one', async () => {
    await listen();
    const post = await open({ eventsUrl: receiver.url });
    await post('/payouts/airtime', airtime(2));
    await delivered();
    expect(receiver.received.map((event) => isSigned(event, SECRET))).toEqual([true]);
  });

  it('are delivered while others wait for a configured URL', async () => {
    everyone.behaviour = hang;
    await listen();
    const post = await open();
    await sandbox.post('/payouts/airtime', airtime(3)).expect(200);
    await eventually(() => everyone.received.length === 1);
    await sandbox.post('/payouts/airtime', airtime(4)).expect(200);
    await sandbox.control('patch', '/settings', { events: { url: '' } }).expect(200);
    await everyone.stop(); // ends the hanging delivery
    await post('/payouts/airtime', airtime(2));
    await eventually(async () => (await pending()).length === 2);
    expect(amountsOf(receiver)).toEqual([2]);
    expect((await pending())[0]?.attempts).toEqual([]);
    everyone = await FakeUpstream.start();
  });

  it('survive a restart', async () => {
    const url = receiver.url;
    const post = await open();
    await receiver.stop();
    await post('/payouts/airtime', airtime(2));
    const { sandbox: before, database, own } = sandbox;
    await before.close();
    await database.$disconnect();

    receiver = await FakeUpstream.start(Number(new URL(url).port));
    const restarted = await startSandbox({}, own);
    sandbox = { ...restarted, close: () => restarted.close().then(() => own.close()) };
    await delivered();
    expect(amountsOf(receiver)).toEqual([2]);
  });

  it('are discarded by a reset', async () => {
    const post = await open();
    await sandbox.control('post', '/reset').expect(204);
    await sandbox.post('/payouts/airtime', airtime(3)).expect(200);
    expect((await post('/payouts/airtime', airtime(2)).expect(401)).body.status).toBe('error');
    expect((await sandbox.control('get', '/events').expect(200)).body).toEqual([]);
  });

  it('never show their URL or secret', async () => {
    await open();
    const paths = ['/accounts', '/events', '/settings', '/requests'] as const;
    const answers = await Promise.all(paths.map((path) => sandbox.control('get', path).expect(200)));
    const shown = JSON.stringify(answers.map(({ body }) => body));
    expect(shown).not.toContain(OWN_SECRET);
    expect(shown).not.toContain(receiver.url);
  });

  it.each([
    [{ eventsUrl: '' }, 'eventsUrl must be an http:// or https:// address'],
    [{ eventsUrl: null }, 'eventsUrl must be an http:// or https:// address'],
    [{ eventsUrl: 'ftp://example.org' }, 'eventsUrl must be an http:// or https:// address'],
    [
      { eventsUrl: 'http://example.org', eventsSecret: ' ' },
      'eventsSecret must be a text without blanks around it',
    ],
    [{ eventsSecret: 'a secret' }, 'eventsSecret needs eventsUrl'],
  ])('reject the settings %j', async (own, fault) => {
    const { body } = await sandbox.control('post', '/accounts', { name: 'Shop', ...own }).expect(400);
    expect(body.faults).toEqual([fault]);
  });
});
