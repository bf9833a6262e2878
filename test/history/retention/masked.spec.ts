import type { Answer } from '../../support/http/request';
import { ApprovalScene, startApproving } from '../../support/payments/approving';
import { eventually, PHONE } from '../../support/payments/paying';
import { FindingsScene } from '../../support/reconciliation/findings-scene';
import { totalsOf } from '../../support/reconciliation/report-scene';
import { asText } from '../../support/records/export-files';

const PERSON = { email: 'ada.lovelace@example.com', twitter: '@AdaLovelace' };
const PEOPLE = ['lovelace', '712345678', '712 345 678'];
const MASKED = { 'X-People': 'masked' };

/** Readers who may see people can request masked ones. */
describe('X-People: masked', () => {
  let approving: ApprovalScene;
  let seeing: string;
  let ids: { paid: string; held: string; finding: string; run: string };

  beforeAll(async () => {
    approving = await startApproving();
    await approving.proxy.startWorker();
    const { proxy, app } = approving;
    seeing = (await proxy.client('seeing', 'audit', 'audit:pii', 'approve', 'reconcile')).key;
    const credits = [{ ...PERSON, valueInUSD: 3.5 }];
    const paid = await proxy
      .post(app, '/payouts/credit', { credits })
      .set('Idempotency-Key', 'k-1')
      .expect(200);
    const scene = new FindingsScene(proxy.database);
    const run = await scene.run({ totals: totalsOf([{ category: 'amount_over', usd: '1' }]) });
    const finding = await scene.finding(run, {
      subject: `upstream_ref/${PERSON.email}`,
      callId: paid.headers['x-call-id'] ?? '',
      upstreamRef: PERSON.email,
    });
    ids = { paid: paid.headers['x-call-id'] ?? '', held: await approving.hold(), finding, run };
    // Filters are also shown.
    await get(`/v1/audit/calls?recipient=${PERSON.email}`).expect(200);
  });
  afterAll(() => approving.close());

  const get = (path: string, key = seeing, headers: Record<string, string> = {}) =>
    approving.proxy.get(key, path).set(headers).buffer(true).parse(asText);
  const revealedIn = async ({ headers }: Answer) =>
    (await approving.query('SELECT revealed FROM access WHERE id = $1', [headers['x-call-id']]))[0]?.revealed;
  const names = (text: unknown) => PEOPLE.filter((part) => String(text).toLowerCase().includes(part));

  /** Whether the access is revealing. A page of findings never is, and a search by recipient always is. */
  it.each<[string, (made: typeof ids) => string, 'revealed' | 'not revealed' | 'tells']>([
    ['calls', () => '/v1/audit/calls', 'revealed'],
    ['calls of a recipient', () => `/v1/audit/calls?recipient=${encodeURIComponent(PHONE)}`, 'tells'],
    ['a call', ({ paid }) => `/v1/audit/calls/${paid}`, 'revealed'],
    ['payouts', () => '/v1/audit/items', 'revealed'],
    ['an export', () => '/v1/audit/export?format=ndjson&what=items', 'revealed'],
    ['an export as CSV', () => `/v1/audit/export?format=csv&what=items&recipient=${PERSON.email}`, 'tells'],
    ['who has read', () => '/v1/audit/accesses', 'revealed'],
    ['held calls', () => '/v1/approvals', 'revealed'],
    ['a held call', ({ held }) => `/v1/approvals/${held}`, 'revealed'],
    ['findings', () => '/v1/reconciliation/findings', 'not revealed'],
    ['findings as CSV', () => '/v1/reconciliation/findings.csv', 'not revealed'],
    ['a finding', ({ finding }) => `/v1/reconciliation/findings/${finding}`, 'not revealed'],
    ['a report', ({ run }) => `/v1/reconciliation/runs/${run}/report?format=json`, 'not revealed'],
  ])('masks people in %s, and in the access record', async (_what, path, revealed) => {
    const open = await get(path(ids)).expect(200);
    expect(names(open.body)).not.toEqual([]);
    expect(await revealedIn(open)).toBe(revealed !== 'not revealed');
    const masked = await get(path(ids), seeing, MASKED).expect(200);
    expect(names(masked.body)).toEqual([]);
    expect(await revealedIn(masked)).toBe(revealed === 'tells');
  });

  it('masks people in own calls, and opens nothing in their receipts', async () => {
    const { app } = approving;
    await eventually(async () => (await get(`/v1/calls/${ids.paid}/receipt`, app)).status === 200);
    for (const path of ['/v1/calls', `/v1/calls/${ids.paid}`, `/v1/calls/${ids.paid}/receipt`]) {
      expect([path, names((await get(path, app).expect(200)).body)]).not.toEqual([path, []]);
      expect([path, names((await get(path, app, MASKED).expect(200)).body)]).toEqual([path, []]);
    }
  });

  it('masks people in the response to a decision', async () => {
    const decide = (key: string) =>
      approving.decide('reject', key, { reason: 'no' }, seeing).set('X-People', 'masked').expect(200);
    const decided = await decide(await approving.hold());
    expect([names(decided.text), await revealedIn(decided)]).toEqual([[], false]);
  });

  it.each(['Masked', 'revealed', 'true', '', 'masked, masked'])(
    'rejects another value, "%s"',
    async (value) => {
      const paths = [
        '/v1/audit/calls',
        `/v1/audit/calls/${ids.paid}`,
        '/v1/audit/export?format=csv',
        '/v1/nothing',
      ];
      for (const path of paths) {
        const { body } = await get(path, seeing, { 'X-People': value }).expect(400);
        expect(JSON.parse(body)).toMatchObject({
          code: 'invalid_people',
          detail: expect.stringMatching(/only the value "masked"/),
        });
        expect(names(body)).toEqual([]);
      }
    },
  );

  it('has no effect on the interface, which shows no history', async () => {
    await approving.proxy.get(approving.app, '/api/v0.1/wallets/list').set('X-People', 'all').expect(200);
  });
});
