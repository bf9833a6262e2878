import { ApprovalScene, startApproving } from '../support/payments/approving';
import { airtime, eventually, phones } from '../support/payments/paying';

let approving: ApprovalScene;

beforeAll(async () => (approving = await startApproving()));
afterAll(() => approving.close());
beforeEach(() => approving.reset());

/** What an approval would do to the caps of who asked, before anybody decides. */
describe('the caps of a held call', () => {
  const cap = (daily: string | null, monthly: string | null) =>
    approving.query('UPDATE client SET daily_cap_usd = $2, monthly_cap_usd = $3 WHERE id = $1', [
      approving.clientId,
      daily,
      monthly,
    ]);
  const spendToday = (usd: string) =>
    approving.query(`INSERT INTO spending VALUES ($1, (now() AT TIME ZONE 'UTC')::date, $2)`, [
      approving.clientId,
      usd,
    ]);
  const one = async (id: string) =>
    (await approving.proxy.get(approving.approver.key, `/v1/approvals/${id}`).expect(200)).body;
  const listed = async (id: string, status = 'pending') => {
    const { body } = await approving.proxy
      .get(approving.approver.key, `/v1/approvals?status=${status}&page_size=200`)
      .expect(200);
    return body.approvals.find((call) => call.id === id);
  };
  /** The same in the list and alone. */
  const capsOf = async (id: string) => {
    const { caps } = await one(id);
    expect((await listed(id))?.caps).toEqual(caps);
    return caps;
  };

  it('show spending and the remaining amount after an approval, and count no pending call', async () => {
    await cap('10', '20.5');
    await spendToday('1.250001');
    const id = await approving.hold();
    await approving.hold();
    const resetsAt = expect.stringMatching(/T00:00:00.000Z$/);
    expect(await capsOf(id)).toEqual({
      daily: {
        cap_usd: '10',
        spent_usd: '1.250001',
        left_usd: '8.749999',
        resets_at: resetsAt,
        after_usd: '3.750001',
        left_after_usd: '6.249999',
      },
      monthly: {
        cap_usd: '20.5',
        spent_usd: '1.250001',
        left_usd: '19.249999',
        resets_at: resetsAt,
        after_usd: '3.750001',
        left_after_usd: '16.749999',
      },
      person_daily: null,
      person_monthly: null,
      ephemeral_key: null,
      fits: true,
    });
  });

  it.each([
    ['2.5', null, '0', true],
    ['2.5', '3', '0.000001', false],
    ['3', '2.5', '0.000001', false],
    [null, '5', '2.5', true],
    ['1', null, '4', false],
    [null, null, '1000000', true],
  ])(
    'predict, with caps of %s and %s and %s spent, whether an approval succeeds',
    async (daily, monthly, spent, fits) => {
      await cap(daily, monthly);
      await spendToday(spent);
      const id = await approving.hold();
      expect((await capsOf(id))?.fits).toBe(fits);
      await approving.decide('approve', id).expect(fits ? 200 : 403);
    },
  );

  it('have zero remaining, never less, once the cap is exceeded', async () => {
    await cap('3', null);
    await spendToday('2');
    expect(await capsOf(await approving.hold())).toMatchObject({
      daily: { left_usd: '1', after_usd: '4.5', left_after_usd: '0' },
      monthly: { cap_usd: null, left_usd: null, after_usd: '4.5', left_after_usd: null },
    });
  });

  it('ignore calls without an amount, which always fit', async () => {
    await cap('1', null);
    await spendToday('4');
    const id = await approving.hold({ total_usd: null });
    expect(await capsOf(id)).toMatchObject({ daily: { spent_usd: '4', after_usd: '4' }, fits: true });
    await approving.decide('approve', id).expect(200);
  });

  it('are null once the call is decided or has expired', async () => {
    const ids = { approved: await approving.hold(), rejected: await approving.hold() };
    expect((await approving.decide('approve', ids.approved).expect(200)).body.caps).toBeNull();
    expect((await approving.decide('reject', ids.rejected).expect(200)).body.caps).toBeNull();
    const expired = await approving.hold({ expires_at: '2020-01-01T00:00:00Z' });
    for (const [status, id] of Object.entries({ ...ids, expired })) {
      expect([status, (await one(id)).caps, (await listed(id, status))?.caps]).toEqual([status, null, null]);
    }
  });

  it('are shown only to approvers', async () => {
    const id = await approving.hold();
    for (const path of [`/v1/calls/${id}`, `/v1/audit/calls/${id}`]) {
      const key = path.startsWith('/v1/audit') ? approving.auditor : approving.app;
      expect((await approving.proxy.get(key, path).expect(200)).body).not.toHaveProperty('caps');
    }
  });
});

/** Approving judges again by everything that the client may do now. */
describe('a held call that its client may no longer send', () => {
  let held: string;

  beforeEach(async () => {
    held = await approving.hold();
  });
  afterEach(() =>
    approving.query(
      `UPDATE client SET scopes = '{pay,write,read}', operations = NULL, countries = '{}',
        max_item_usd = NULL,
         max_call_usd = NULL, max_items = NULL WHERE id = $1`,
      [approving.clientId],
    ),
  );

  const change = (assignment: string) =>
    approving.query(`UPDATE client SET ${assignment} WHERE id = $1`, [approving.clientId]);
  const shown = async <const Path extends string>(path: Path) =>
    (await approving.proxy.get(approving.approver.key, path).expect(200)).body;

  it.each([
    ["scopes = '{read}'", 'scope_missing', 'the scope pay'],
    ["operations = '{POST /send}'", 'operation_not_allowed', 'POST /payouts/airtime is switched off'],
    ["countries = '{Ghana}'", 'country_not_allowed', 'a country that the client may not pay to'],
    ['max_item_usd = 2.499999', 'cap_exceeded', 'one item'],
    ['max_call_usd = 2.499999', 'cap_exceeded', 'one call'],
  ])('cannot be approved after %s, and waits until that is reverted', async (assignment, rule, words) => {
    await change(assignment);
    const { body } = await approving.decide('approve', held).expect(409);
    expect(body).toMatchObject({ code: 'no_longer_allowed', detail: expect.stringContaining(`(${rule})`) });
    expect(body.detail).toContain(words);
    expect(approving.upstream.received).toEqual([]);
    expect(await approving.spent()).toBeUndefined();
    expect((await shown(`/v1/approvals/${held}`)).not_allowed).toMatchObject({ code: rule });
    const { approvals } = await shown('/v1/approvals?page_size=200');
    expect(approvals.find(({ id }) => id === held)?.not_allowed).toMatchObject({ code: rule });
    await change(`scopes = '{pay}', operations = '{POST /payouts/airtime}', countries = '{kenya}',
      max_item_usd = 2.5, max_call_usd = 2.5, max_items = 1`);
    expect((await shown(`/v1/approvals/${held}`)).not_allowed).toBeNull();
    const { body: approved } = await approving.decide('approve', held).expect(200);
    expect([approved.outcome, approved.not_allowed]).toEqual(['succeeded', null]);
    expect(approving.upstream.received).toHaveLength(1);
  });

  it('cannot be approved with more items than the client may now send', async () => {
    const items = (phones: string[]) => ({ airtimes: phones.flatMap((phone) => airtime(phone).airtimes) });
    await change('approval_over_usd = 1');
    const asked = approving.proxy.post(approving.app, '/payouts/airtime', items(phones(2)));
    const { call_id: id } = (await asked.expect(202)).body;
    await change('approval_over_usd = NULL, max_items = 1');
    const { body } = await approving.decide('approve', id).expect(409);
    expect(body.detail).toContain('(too_many_items)');
    await change('max_items = 2');
    await approving.decide('approve', id).expect(200);
  });

  it('cannot be approved if a limit commits while the approval waits for the client', async () => {
    await approving.query('BEGIN');
    await change("countries = '{Ghana}'");
    const deciding = approving.decide('approve', held).then((response) => response);
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
      AND datname = current_database()`;
    await eventually(async () => {
      await approving.query('SELECT pg_stat_clear_snapshot()');
      return (await approving.query(waiting)).length > 0;
    });
    await approving.query('COMMIT');
    expect((await deciding).body.code).toBe('no_longer_allowed');
    expect(approving.upstream.received).toEqual([]);
  });
});
