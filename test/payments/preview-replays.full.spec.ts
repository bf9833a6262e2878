import { Decimal } from 'decimal.js';
import { NO_LIMITS } from '../../src/access/clients/limits/limits';
import { readEarlierPayments } from '../../src/gateway/preview/earlier-payments';
import { itemsOf } from '../../src/operations/items/items';
import { PrismaService } from '../../src/platform/database/pools/prisma.service';
import { first } from '../support/examples/first';
import { airtimeItem, creditItem } from '../support/http/interface';
import { answer, hang } from '../support/network/fake-upstream';
import { eventually } from '../support/payments/paying';
import { PreviewScene, serving, startPreviewing } from '../support/payments/previewing';
import { settleByHand } from '../support/payments/settling';
import { editRecord, insertSettlements } from '../support/records/documents';
import { copyIntent } from '../support/records/intents';

const AIRTIME = '/payouts/airtime';
const airtimes = (...changes: object[]) => ({
  airtimes: changes.map((change) => ({ ...airtimeItem(), ...change })),
});
const keyed = (key: string) => ({ 'Idempotency-Key': key });

describe('a preview of a repeated request', () => {
  let api: PreviewScene;

  beforeAll(async () => {
    const windows = {
      duplicateGuard: true,
      duplicateWindowSeconds: 3_600,
      duplicateAcrossClientsSeconds: 3_600,
    };
    api = await startPreviewing({ ...windows, upstreamTimeoutMs: 400 });
  });
  afterAll(() => api.close());
  beforeEach(() => {
    api.upstream.received.length = 0;
    api.upstream.behaviour = serving;
  });

  /** Counter for unused phone numbers. */
  let phones = 0;
  const fresh = () => ({ phoneNumber: `+2348${String((phones += 1)).padStart(9, '0')}` });

  it('reads each item of a long list once per earlier payment of it', async () => {
    const { id, key } = await api.client();
    const body = airtimes(...Array.from({ length: 300 }, fresh));
    const original = await api.ask(key, AIRTIME, body, keyed('first')).expect(200);
    const meant = { ...keyed('second'), 'Allow-Duplicate-Of': original.headers['x-call-id'] ?? '' };
    await api.ask(key, AIRTIME, body, meant).expect(200);
    const { duplicates } = await api.preview(key, AIRTIME, body, keyed('third'));
    expect(duplicates).toHaveLength(300);
    const items = itemsOf('POST /payouts/airtime', body);
    const wanted = items.map((item, position) => ({ item, position }));
    const read = await api.proxy.app.get(PrismaService, { strict: false }).$transaction(async (tx) => {
      // The connection may report its reads late.
      const rowsRead = async () =>
        first(
          await tx.$queryRaw<{ rows: number }[]>`
            SELECT sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::int AS rows FROM pg_stat_xact_user_tables
            WHERE relname LIKE 'intent%' OR relname LIKE 'outcome%'`,
        ).rows;
      const before = await rowsRead();
      const owner = { clientId: id, person: null };
      expect(
        await readEarlierPayments(tx as PrismaService, { owner, limits: NO_LIMITS }, wanted),
      ).toHaveLength(300);
      return (await rowsRead()) - before;
    });
    expect(read).toBeLessThan(50); // the calls, once per item and once per person
  });

  it('reports a suspected duplicate without a key, and none with another key', async () => {
    const { key } = await api.client();
    const body = airtimes(fresh());
    const { headers } = await api.ask(key, AIRTIME, body).expect(200);
    const found = await api.preview(key, AIRTIME, body);
    expect(found).toMatchObject({
      would: 'be_refused',
      errors: [{ code: 'suspected_duplicate', pointer: '' }],
    });
    expect(found.refusal).toMatchObject({ status: 409, first_call_id: headers['x-call-id'] });
    expect((await api.preview(key, AIRTIME, body, keyed('new'))).would).toBe('be_sent');
    const naming = { 'Allow-Duplicate-Of': headers['x-call-id'] ?? '' };
    expect((await api.preview(key, AIRTIME, body, naming)).would).toBe('be_sent');
  });

  it('reports a paid list as a suspected duplicate with another key, unless it names the call', async () => {
    const { key } = await api.client();
    const body = airtimes(fresh(), fresh());
    const { headers } = await api.ask(key, AIRTIME, body, keyed('upload-1')).expect(200);
    const first = headers['x-call-id'] ?? '';
    const { would, refusal } = await api.preview(key, AIRTIME, body, keyed('upload-2'));
    expect([would, refusal!.code, refusal!.first_call_id]).toEqual([
      'be_refused',
      'suspected_duplicate',
      first,
    ]);
    expect(refusal!.first_call_state).toBe('succeeded');
    const naming = { ...keyed('upload-2'), 'Allow-Duplicate-Of': first };
    expect((await api.preview(key, AIRTIME, body, naming)).would).toBe('be_sent');
    const wrong = await api.preview(key, AIRTIME, body, { 'Allow-Duplicate-Of': 'the first one' });
    expect(wrong.refusal).toMatchObject({ status: 400, code: 'invalid_allow_duplicate_of' });
  });

  it('reports a replay with its key under changed rules, and records nothing', async () => {
    const { id, key, name } = await api.client();
    const body = airtimes(fresh());
    const { headers } = await api.ask(key, AIRTIME, body, keyed('k')).expect(200);
    await api.limit(name, { maxItemUsd: new Decimal('0.01') });
    const replay = { first_call_id: headers['x-call-id'], status: 200 };
    const expected = { would: 'be_replayed', replay, refusal: null, errors: [], approval: null };
    expect(await api.preview(key, AIRTIME, body, keyed('"k"'))).toMatchObject(expected);
    expect(await api.proxy.database.query('SELECT FROM refusal WHERE client_id = $1', [id])).toEqual([]);
    const other = await api.preview(key, AIRTIME, airtimes(fresh()), keyed('k'));
    expect(other.refusal).toMatchObject({
      status: 422,
      code: 'idempotency_key_reused',
      first_call_id: headers['x-call-id'],
    });
    expect(other.errors.map(({ code }) => code)).toEqual(['idempotency_key_reused', 'cap_exceeded']);
  });

  it('reports the state of its key: in progress, in doubt, or free', async () => {
    const { key } = await api.client();
    const body = airtimes(fresh());
    await api.preview(key, AIRTIME, body); // caches the list, so only the payout hangs
    api.upstream.behaviour = hang;
    const asked = api.ask(key, AIRTIME, body, keyed('slow')).expect(504).then();
    await eventually(() => api.arrived().length > 0);
    const codeOf = async (header: string) =>
      (await api.preview(key, AIRTIME, body, keyed(header))).refusal?.code;
    expect(await codeOf('slow')).toBe('request_in_progress');
    const { headers } = await asked;
    expect(await codeOf('slow')).toBe('outcome_unknown');
    await insertSettlements(api.proxy.database, [{ intent_id: headers['x-call-id'] }]);
    expect(await api.preview(key, AIRTIME, body, keyed('slow'))).toMatchObject({
      would: 'be_sent',
      duplicates: [],
    });
  });

  it('reports the rejection of the call with its key', async () => {
    const { key } = await api.client({ approvalOverUsd: new Decimal(1) });
    const body = airtimes({ ...fresh(), valueInUSD: 2 });
    const { headers } = await api.ask(key, AIRTIME, body, keyed('k')).expect(202);
    expect(await api.preview(key, AIRTIME, body, keyed('k'))).toMatchObject({
      would: 'be_replayed',
      replay: { first_call_id: headers['x-call-id'], status: 202 },
    });
    await api.proxy.database.query(
      `INSERT INTO decision (intent_id, kind, reason, client_id, key_id, process)
        VALUES ($1, 'rejected', 'x', $1, $1, 1)`,
      [headers['x-call-id']],
    );
    const found = await api.preview(key, AIRTIME, body, keyed('k'));
    expect(found).toMatchObject({ would: 'be_refused', refusal: { status: 403, code: 'approval_rejected' } });
    expect(found.duplicates).toEqual([]);
  });

  it('reports an invalid or missing key header', async () => {
    const { key } = await api.client({ requireIdempotencyKey: true });
    const body = airtimes(fresh());
    const codes = async (headers: Record<string, string>) =>
      (await api.preview(key, AIRTIME, body, headers)).errors.map(({ code }) => code);
    expect(await codes({})).toEqual(['idempotency_key_required']);
    expect(await codes(keyed('a b'))).toEqual(['invalid_idempotency_key']);
    expect(await codes(keyed('k'))).toEqual([]);
  });

  it('reports the same payment by another client', async () => {
    const [one, other] = [await api.client(), await api.client()];
    const body = airtimes(fresh());
    await api.ask(one.key, AIRTIME, body).expect(200);
    const approval = { reason: 'seen_across_clients', threshold_usd: null };
    const expected = { would: 'wait_for_approval', approval, duplicates: [] };
    expect(await api.preview(other.key, AIRTIME, body)).toMatchObject(expected);
    await api.ask(other.key, AIRTIME, body).expect(202);
  });

  it('lists repeated items, within the request and of recent days', async () => {
    const { key } = await api.client();
    const [a, b] = [fresh(), fresh()];
    const { headers } = await api.ask(key, AIRTIME, airtimes(b, a)).expect(200);
    const { duplicates } = await api.preview(key, AIRTIME, airtimes(a, fresh(), a, { ...b, valueInUSD: 9 }));
    const seen = {
      kind: 'seen_before',
      call_id: headers['x-call-id'],
      paid_at: expect.stringMatching(/^2.*Z$/),
    };
    expect(duplicates).toEqual([
      { position: 2, kind: 'inside_batch', same_as_position: 0 },
      { ...seen, position: 0 },
      { ...seen, position: 2 },
    ]);
    const credits = ['Eve@example.com', 'eve@EXAMPLE.com'].map((email) => ({ ...creditItem(), email }));
    expect((await api.preview(key, '/payouts/credit', { credits })).duplicates).toHaveLength(1);
  });

  it('omits items of calls that were not executed and items older than seven days', async () => {
    const { key } = await api.client();
    const body = airtimes(fresh());
    const seenOf = async () =>
      (await api.preview(key, AIRTIME, body)).duplicates.map(({ call_id: id }) => id);
    await api.preview(key, AIRTIME, body);
    api.upstream.behaviour = answer(400, { status: 'error', error: 'no' });
    const { headers } = await api.ask(key, AIRTIME, body).expect(400);
    api.upstream.behaviour = serving;
    expect(await seenOf()).toEqual([headers['x-call-id']]);
    await settleByHand(api.proxy, { headers });
    expect(await seenOf()).toEqual([]);
    const copy = await copyIntent(api.proxy.database, headers['x-call-id'] ?? '', {});
    expect(await seenOf()).toEqual([copy]);
    const old = (Date.now() - 8 * 86_400_000).toString(16).padStart(12, '0');
    const aged = `${old.slice(0, 8)}-${old.slice(8)}${copy.slice(13)}`;
    await editRecord(api.proxy.database, 'intent', copy, (record) => ({ ...record, id: aged }));
    await api.proxy.database.query('UPDATE intent_body SET intent_id = $1 WHERE intent_id = $2', [
      aged,
      copy,
    ]);
    await api.proxy.database.query('SELECT reindex_calls($1)', [[aged, copy]]);
    expect(await seenOf()).toEqual([]);
  });
});
