import { ExportService } from '../../../src/history/export/export.service';
import { answer } from '../../support/network/fake-upstream';
import { PaymentScene, PHONE, startPaying } from '../../support/payments/paying';
import { insertSettlements } from '../../support/records/documents';
import { asText, linesOf, readCsv } from '../../support/records/export-files';
import { copyIntent } from '../../support/records/intents';

describe('an export', () => {
  let paying: PaymentScene;
  let masked: string;
  let model: string;

  beforeAll(async () => {
    jest.spyOn(ExportService.prototype, 'covering').mockResolvedValue(null);
    paying = await startPaying();
    masked = (await paying.proxy.client('masked', 'audit')).key;
    paying.upstream.behaviour = answer(200, { status: 'success', data: { data: [{ chiRef: 'ref-1' }] } });
    model = (await paying.pay().expect(200)).headers['x-call-id'] ?? '';
  });
  afterAll(() => paying.close());
  afterAll(() => jest.restoreAllMocks());

  const get = (filters: string, key = paying.auditor) =>
    paying.proxy.get(key, `/v1/audit/export?${filters}`).buffer(true).parse(asText);

  it('shows approvals, doubts and resolutions like the search', async () => {
    const held = { held_for: 'over_threshold', expires_at: '2099-01-01T00:00:00Z' };
    const ids = [
      await copyIntent(paying.proxy.database, model, held),
      await copyIntent(paying.proxy.database, model, { ...held, expires_at: '2001-01-01T00:00:00Z' }),
      await copyIntent(paying.proxy.database, model, { process: 999_999 }),
      await copyIntent(paying.proxy.database, model, { process: 999_999 }),
      await copyIntent(paying.proxy.database, model, held),
    ];
    const by = { client_id: model, key_id: model, actor: 'ada', source: 'person' };
    await insertSettlements(paying.proxy.database, [
      { intent_id: ids[3], reason: 'asked +254712345678', ...by },
    ]);
    await paying.proxy.database.query(
      `INSERT INTO decision (intent_id, kind, reason, client_id, key_id, process)
       SELECT id, 'rejected', 'too much', client_id, client_id, 1 FROM intent WHERE id = $1`,
      [ids[4]],
    );
    const lines = linesOf((await get(`format=ndjson`, masked)).body);
    for (const id of ids) {
      const { body: page } = await paying.proxy.get(masked, `/v1/audit/calls/${id}`).expect(200);
      expect(lines.find((line) => line.id === id)).toMatchObject({
        outcome: page.outcome,
        in_doubt_since: page.in_doubt_since?.replace('Z', '')
          ? expect.stringContaining(page.in_doubt_since.slice(0, -1))
          : null,
        held_for: page.approval?.held_for ?? null,
        approval: page.approval?.status ?? null,
        decision_reason: page.approval?.reason ?? null,
        resolution: page.resolution?.outcome ?? null,
        resolution_reason: page.resolution?.reason ?? null,
        undelivered: page.undelivered ? 'true' : null,
        resolved_by_actor: page.resolution?.resolved_by?.actor ?? null,
      });
    }
    const words = ids.map((id) => lines.find((line) => line.id === id)?.outcome);
    expect(words).toEqual(['pending_approval', 'expired', 'unknown', 'not_executed', 'declined']);
  });

  it('has the transaction that was found for a call in doubt', async () => {
    const copy = await copyIntent(paying.proxy.database, model, { process: 999_999 });
    const names = { upstream_ref: 'found-ref', upstream_id: 'found-id', batch_ref: 'found-issue' };
    const accounts = { from: 'reserved', to: 'recipient', amount_usd: '2.5' };
    const entry = { ...names, ...accounts, entry: 'paid' as const, position: 0, status: 'paid' };
    await insertSettlements(paying.proxy.database, [
      { intent_id: copy, resolution: 'confirmed', entries: [entry] },
    ]);
    const lines = linesOf((await get('format=ndjson&what=items&outcome=confirmed').expect(200)).body);
    expect(lines).toEqual([
      expect.objectContaining({
        ...names,
        call_id: copy,
        upstream_item_status: 'paid',
        upstream_amount_usd: '2.5',
      }),
    ]);
  });

  it('has the differences of a transaction from its payout, also in the rows of SQL', async () => {
    paying.upstream.behaviour = answer(200, {
      status: 'success',
      data: { data: [{ chiRef: 'near', valueInUSD: 2.4, fee: 0.1, phoneNumber: PHONE, status: 'paid' }] },
    });
    const call_id = (await paying.pay(PHONE).expect(200)).headers['x-call-id'] ?? '';
    const { body: page } = await paying.proxy.get(masked, `/v1/audit/calls/${call_id}`).expect(200);
    expect(page.items[0]?.upstream?.differs).toEqual(['amount']);
    const shown = expect.objectContaining({
      call_id,
      upstream_differs: 'amount',
      upstream_amount_usd: '2.4',
    });
    expect(linesOf((await get('format=ndjson&what=items').expect(200)).body)).toContainEqual(shown);
    expect(readCsv((await get('format=csv&what=items').expect(200)).body)).toContainEqual(shown);
    const differs = await paying.proxy.database.query(
      'SELECT differs FROM audit.upstream_items WHERE call_id = $1',
      [call_id],
    );
    expect(differs).toEqual([{ differs: ['amount'] }]);
  });
});
