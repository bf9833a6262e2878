import { hang } from '../../support/network/fake-upstream';
import { FEE_OPERATION, FeeScene, paysFor } from '../../support/payments/fee-scene';
import { eventually } from '../../support/payments/paying';

/** Promise 3: fees of the upstream exceed no cap. */
describe('a fee of the upstream', () => {
  let scene: FeeScene;

  beforeEach(async () => void (scene = await FeeScene.start()));
  afterEach(() => scene.close());

  it('is reserved with the payout, and appears in a preview, the limits and the record', async () => {
    const proxy = await scene.running('1.5%+0.05');
    scene.upstream.behaviour = paysFor(0.08);
    const { id, key } = await scene.client(proxy, 3);
    const refused = await scene.pay(proxy, key, 3).expect(403);
    expect(refused.body.error).toContain(
      "cap is 3 US dollars, with 3 US dollars left. The upstream's expected fees of 0.095",
    );
    const preview = (await scene.preview(proxy, key, 2)).body as { caps: { daily: object } };
    expect(preview).toMatchObject({ would: 'be_sent', total_usd: '2', fee_usd: '0.08' });
    expect(preview.caps.daily).toMatchObject({ spent_usd: '0', left_after_usd: '0.92' });
    const { headers } = await scene.pay(proxy, key, 2).expect(200);
    const { body } = await proxy.get(key, `/v1/calls/${headers['x-call-id']}`).expect(200);
    expect(body).toMatchObject({ total_usd: '2', expected_fee_usd: '0.08' });
    expect(body.items).toMatchObject([{ fee_usd: '0.08', expected_fee_usd: null }]);
    expect(await scene.spent(id)).toBe('2.08');
    const limits = (await proxy.get(key, '/v1/limits').expect(200)).body;
    expect(JSON.stringify(limits)).toContain('"spent_usd":"2.08"');
  });

  it('never exceeds a cap, however many requests arrive at once on several instances', async () => {
    const [one, other] = [await scene.running('1.5%'), await scene.running('1.5%')];
    scene.upstream.behaviour = paysFor(0.0075);
    const { id, key } = await scene.client(one, 3);
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, nth) => scene.pay(nth % 2 === 0 ? one : other, key, 0.5)),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(5); // six cost 3.045
    // A busy machine refuses some, or does not wait for the upstream. Send until the cap is reached.
    await eventually(async () => (await scene.pay(one, key, 0.5)).status === 403);
    expect(await scene.spent(id)).toBe('2.5375');
  });

  it('counts as the answer states, and as zero if its transaction states none', async () => {
    const proxy = await scene.running('10%');
    const { id, key } = await scene.client(proxy, 3);
    scene.upstream.behaviour = paysFor(0.01);
    await scene.pay(proxy, key, 1).expect(200);
    expect(await scene.spent(id)).toBe('1.01');
    scene.upstream.behaviour = paysFor();
    await scene.pay(proxy, key, 1).expect(200);
    expect(await scene.spent(id)).toBe('2.01');
  });

  it('stays reserved while its payout is in doubt, and is released with it', async () => {
    const proxy = await scene.running('10%');
    const { id, key } = await scene.client(proxy, 3);
    scene.upstream.behaviour = hang;
    const { headers } = await scene.pay(proxy, key, 1).expect(504);
    expect(await scene.spent(id)).toBe('1.1');
    const callId = headers['x-call-id'] ?? '';
    const { body } = await proxy.get(key, `/v1/calls/${callId}`).expect(200);
    expect(body.items).toMatchObject([{ state: 'in_doubt', fee_usd: null, expected_fee_usd: '0.1' }]);
    const operator = (await proxy.client('operator', 'approve')).key;
    const resolution = { outcome: 'not_executed', reason: 'The provider confirmed that it did nothing.' };
    await scene.own(proxy, operator, `/v1/calls/${callId}/resolution`, resolution).expect(200);
    expect(await scene.spent(id)).toBe('0');
  });

  it('is reserved when a held call is approved', async () => {
    const proxy = await scene.running('10%');
    const { id, key } = await scene.client(proxy, 5, 2);
    const held = (await scene.pay(proxy, key, 4).expect(202)).body.call_id;
    expect(await scene.spent(id)).toBeUndefined();
    const approver = (await proxy.client('approver', 'approve')).key;
    const { body } = await proxy.get(approver, `/v1/approvals/${held}`).expect(200);
    expect(body.caps?.daily).toMatchObject({ after_usd: '4.4', left_after_usd: '0.6' });
    scene.upstream.behaviour = hang;
    await scene.own(proxy, approver, `/v1/approvals/${held}/approve`, { reason: 'Agreed.' }).expect(200);
    expect(await scene.spent(id)).toBe('4.4');
    const cap = (usd: number) =>
      scene.database.query('UPDATE client SET daily_cap_usd = $2 WHERE id = $1', [id, usd]);
    await cap(9);
    const second = (await scene.pay(proxy, key, 3.5).expect(202)).body.call_id;
    await cap(8);
    await scene.own(proxy, approver, `/v1/approvals/${second}/approve`, { reason: 'Agreed.' }).expect(403);
  });

  it('that is configured is not raised by larger ones, which count once charged', async () => {
    const proxy = await scene.running('1% min 0.02');
    const { id, key } = await scene.client(proxy, 100);
    scene.upstream.behaviour = paysFor(0.5);
    await scene.payTimes(4, proxy, key, 1);
    expect(await scene.spent(id)).toBe('6');
    expect(await scene.expected(proxy, key, 1)).toBe('0.02');
    expect(await scene.expected(proxy, key, 5)).toBe('0.05');
    const { text } = await proxy.get(key, '/metrics');
    expect(text).toContain(`payout_proxy_unexpected_fees_total{operation="${FEE_OPERATION}"} 4`);
    expect(await scene.database.query('SELECT FROM call_fee')).toHaveLength(0);
  });

  it('has tiers, which the record of a call names', async () => {
    const proxy = await scene.running('<10:0.20,<100:1%,2%');
    const { id, key } = await scene.client(proxy, 1_000);
    expect(await scene.expected(proxy, key, 9.99)).toBe('0.2');
    expect(await scene.expected(proxy, key, 10)).toBe('0.1');
    scene.upstream.behaviour = hang;
    const { headers } = await scene.pay(proxy, key, 9.99, 100).expect(504);
    expect(await scene.spent(id)).toBe('112.19');
    const [recorded] = await scene.database.query<{ fee: string }>(
      `SELECT record::json ->> 'expected_fee' AS fee FROM intent WHERE id = $1`,
      [headers['x-call-id']],
    );
    expect(recorded?.fee).toBe('<10:0.2,2%');
    const { body } = await proxy.get(key, `/v1/calls/${headers['x-call-id']}`).expect(200);
    expect(body.items).toMatchObject([{ expected_fee_usd: '0.2' }, { expected_fee_usd: '2' }]);
  });
});
