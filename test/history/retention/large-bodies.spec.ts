import { answer } from '../../support/network/fake-upstream';
import { eventually } from '../../support/payments/paying';
import { Erasing, startErasing } from '../../support/records/erasing';

const ITEMS = 200;
const numberOf = (place: number) => `+2547${String(10_000_000 + place)}`;
const momos = (from: number) =>
  Array.from({ length: ITEMS }, (_, place) => ({
    countryToSend: 'Kenya',
    phoneNumber: numberOf(from + place),
    valueInUSD: 0.25,
    reference: `wages ${from + place}`,
    momoCode: 'MPS',
  }));
const answerTo = (from: number) => ({
  status: 'success',
  data: momos(from).map(({ phoneNumber, valueInUSD }, place) => ({
    chiRef: `chi-${from + place}`,
    status: 'paid',
    phoneNumber,
    valueInUSD,
  })),
});
const callOf = (response: { headers: Record<string, string> }) => response.headers['x-call-id'] ?? '';

describe('a body of many items', () => {
  let paying: Erasing;

  beforeAll(async () => {
    paying = await startErasing();
    await paying.proxy.startWorker();
  });
  afterAll(() => paying.close());

  const pay = (from: number, key: string) => {
    paying.upstream.behaviour = answer(200, answerTo(from));
    return paying.proxy
      .post(paying.app, '/payouts/mobile-money', { momos: momos(from) })
      .set('Idempotency-Key', key);
  };
  const anomaliesOf = async (id: string) => {
    const { body } = await paying.proxy.get(paying.auditor, `/v1/audit/calls/${id}`).expect(200);
    return body.anomalies.map(({ code }) => code);
  };
  const storedOf = (id: string) =>
    paying.query(
      `SELECT b.coding, octet_length(b.body) < 8192 AS shorter, a.coding AS answered
       FROM intent_body b JOIN outcome_body a USING (intent_id) WHERE intent_id = $1`,
      [id],
    );

  it('is compressed in its row, and replayed, shown, proven and verified as it was', async () => {
    const first = await pay(0, 'wages-1').expect(200);
    const id = callOf(first);
    expect(await storedOf(id)).toEqual([{ coding: 'br', shorter: true, answered: 'br' }]);

    const again = await pay(0, 'wages-1').expect(200).expect('Idempotent-Replayed', 'true');
    expect(again.text).toBe(first.text);
    await pay(1_000, 'wages-1').expect(422);

    const sent = paying.upstream.received.at(-1)?.body;
    const { request, response } = await paying.record(first);
    expect(request?.body).toEqual(JSON.parse(sent ?? ''));
    expect(response?.body).toEqual(JSON.parse(first.text));
    expect(await anomaliesOf(id)).toEqual([]);
    expect(await paying.verify()).toMatchObject({ ok: true, fault: null });

    const { body: receipt } = await paying.proxy.get(paying.app, `/v1/calls/${id}/receipt`).expect(200);
    // The log may have the outcome first, if both are committed while a new sealer begins.
    const bodies = receipt.records.map(({ kind, openings }) => [
      kind,
      openings.flatMap(({ commitment, value }) => (commitment === 'body_commitment' ? [value] : [])),
    ]);
    expect(Object.fromEntries(bodies)).toEqual({ intent: [sent], outcome: [first.text] });
  });

  it('is found by a name in it, and erased with its coding', async () => {
    const id = callOf(await pay(2_000, 'wages-2').expect(200));
    const erased = await paying.erase('--recipient', numberOf(2_007), '--reason', 'case', '--yes');
    expect(erased.places).toEqual([`intent_body/${id}`, `item_recipient/${id}/7`, `outcome_body/${id}`]);
    expect(await paying.query('SELECT body, coding FROM intent_body WHERE intent_id = $1', [id])).toEqual([
      { body: null, coding: null },
    ]);
    expect(await paying.verify()).toMatchObject({ ok: true, fault: null });
  });

  it.each([
    ['other bytes', "decode('00', 'hex')"],
    ['bytes of another body', '(SELECT a.body FROM outcome_body a WHERE a.intent_id <> b.intent_id LIMIT 1)'],
  ])('that was changed to %s fails the verification', async (_what, bytes) => {
    const id = callOf(await pay(4_000, `wages-${bytes.length}`).expect(200));
    const leaves = "SELECT FROM leaves_of($1) AS l WHERE l.kind = 'outcome'";
    await eventually(async () => (await paying.query(leaves, [id])).length === 1);
    await paying.proxy.database.query(`UPDATE outcome_body b SET body = ${bytes} WHERE intent_id = $1`, [id]);
    expect(await paying.verify()).toMatchObject({ ok: false });
    expect(await anomaliesOf(id)).toContain('response_body_changed');
  });
});
