import fc from 'fast-check';
import { everythingIn } from '../../support/databases/everything';
import { succeed } from '../../support/network/fake-upstream';
import { airtime } from '../../support/payments/paying';
import { settleByHand } from '../../support/payments/settling';
import { Erasing, startErasing } from '../../support/records/erasing';

const NUMBER = '+2349099887766';
/** National part of the number, in every spelling. */
const DIGITS = /9\D{0,3}0\D{0,3}9\D{0,3}9\D{0,3}8\D{0,3}8\D{0,3}7\D{0,3}7\D{0,3}6\D{0,3}6/;

const grouped = (digits: string) =>
  fc
    .tuple(fc.constantFrom('', '-', '.', '/', '_', ')'), fc.integer({ min: 2, max: 4 }))
    .map(([sign, size]) => (digits.match(new RegExp(`\\d{1,${size}}`, 'g')) ?? []).join(sign));
const spelled = fc
  .constantFrom('2349099887766', '002349099887766', '09099887766', '9099887766')
  .chain(grouped)
  .chain((digits) =>
    fc.constantFrom('', 'order-', 'airtime:', 'pay_', 'tel').map((before) => `${before}${digits}`),
  );
/** Idempotency keys with the number, one per spelling. */
const NAMING = [...new Set(fc.sample(spelled, { numRuns: 60, seed: 7 }))].slice(0, 24);

const OTHERS = ['order-2349099887767', '0190f2a4-2349-7099-8877-667099887766', 'k-1'];

describe('an idempotency key with a phone number', () => {
  let paying: Erasing;
  let calls: Map<string, string>;
  let replays: string[];
  const query: Erasing['query'] = (sql, parameters) => paying.query(sql, parameters);
  /** Each key has its own content, so that only the key can reject a repetition. */
  const pay = (key: string, valueInUSD = (100 + [...NAMING, ...OTHERS].indexOf(key)) / 100) => {
    const [item] = airtime('+254712345678').airtimes;
    const body = { airtimes: [{ ...item!, valueInUSD }] };
    return paying.proxy.post(paying.app, '/payouts/airtime', body).set('Idempotency-Key', key);
  };
  const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'] ?? '';
  const found = async (key: string) => {
    const path = `/v1/calls?idempotency_key=${encodeURIComponent(key)}` as const;
    return (await paying.proxy.get(paying.app, path).expect(200)).body.calls;
  };
  const erase = (recipient: string, ...more: string[]) =>
    paying.erase('--recipient', recipient, '--reason', 'case 17', ...more);
  const verify = () => paying.verify();
  const openingsOf = async (id: string) => {
    const { body } = await paying.proxy.get(paying.auditor, `/v1/audit/calls/${id}/receipt`).expect(200);
    return body.records
      .flatMap(({ openings }) => openings)
      .filter(({ commitment }) => /key/.test(commitment));
  };

  beforeAll(async () => {
    paying = await startErasing();
    await paying.proxy.startWorker();
    calls = new Map();
    for (const key of [...NAMING, ...OTHERS]) calls.set(key, idOf(await pay(key).expect(200)));
    for (const key of NAMING.slice(0, 3)) await pay(key).expect(200);
    replays = (await query<{ id: string }>('SELECT id FROM refusal ORDER BY id')).map(({ id }) => id);
    for (const key of NAMING.slice(0, 3)) {
      const path = `/v1/audit/calls?idempotency_key=${encodeURIComponent(key)}` as const;
      await paying.proxy.get(paying.auditor, path).expect(200);
    }
  });
  afterAll(() => paying.close());

  const exported = async () => {
    const rows = await paying.exported<{ id: string; idempotency_key?: string | null }>();
    return new Map(rows.map(({ id, idempotency_key: key }) => [id, key ?? null]));
  };

  it('is in no record, is found by the number, and opens the recorded commitment', async () => {
    const all = await everythingIn(paying.proxy.database);
    const named = Object.keys(all).filter((table) => DIGITS.test(all[table] ?? ''));
    expect(named).toEqual([
      'access_filters',
      'idempotency_claim',
      'intent_body',
      'refusal_key',
      'search_entry',
    ]);
    const [key = ''] = NAMING;
    const seen = await found(key);
    expect(seen.map((call) => [call.id, call.idempotency_key])).toEqual([[calls.get(key), key]]);
    const path = `/v1/audit/calls/${replays[0]}` as const;
    expect((await paying.proxy.get(paying.auditor, path).expect(200)).body.idempotency_key).toBe(key);
    const rows = await exported();
    expect([rows.get(calls.get(key) ?? ''), rows.get(replays[0] ?? '')]).toEqual([key, key]);
    expect(await verify()).toMatchObject({ ok: true });
    for (const id of [calls.get(key) ?? '', replays[0] ?? '']) {
      expect(await openingsOf(id)).toMatchObject([{ commitment: 'idempotency_key_commitment', value: key }]);
    }
  });

  it.each([
    [
      'of a request',
      'UPDATE intent_body SET idempotency_key = $2 WHERE intent_id = $1',
      () => calls.get('k-1'),
    ],
    ['of a refusal', 'UPDATE refusal_key SET key = $2 WHERE refusal_id = $1', () => replays[0]],
  ])('cannot be changed, removed or added undetected: the key %s', async (_whose, change, which) => {
    const id = which() ?? '';
    const table = change.includes('refusal_key') ? 'refusal_key' : 'intent_body';
    const salt = table === 'refusal_key' ? 'salt' : 'idempotency_key_salt';
    const own = change.replace(/^UPDATE \w+ SET (\w+) .*$/, '$1');
    const where = change.replace(/^.*WHERE (\w+) .*$/, '$1');
    const [before] = await query<{ key: string; salt: string }>(
      `SELECT ${own} AS key, encode(${salt}, 'hex') AS salt FROM ${table} WHERE ${where} = $1`,
      [id],
    );
    await query(change, [id, 'another']);
    expect(await verify()).toMatchObject({ ok: false, fault: { code: 'people_changed', record_id: id } });
    await query(change, [id, before?.key]);
    await query(`UPDATE ${table} SET ${salt} = NULL WHERE ${where} = $1`, [id]);
    expect(await verify()).toMatchObject({ ok: false, fault: { code: 'people_missing', record_id: id } });
    await query(`UPDATE ${table} SET ${salt} = decode($2, 'hex') WHERE ${where} = $1`, [
      id,
      `${before?.salt}00`,
    ]);
    expect(await verify()).toMatchObject({ ok: false, fault: { code: 'people_changed', record_id: id } });
    await query(`UPDATE ${table} SET ${salt} = decode($2, 'hex') WHERE ${where} = $1`, [id, before?.salt]);
    expect(await verify()).toMatchObject({ ok: true });
  });

  it('is erased in every spelling, and other keys are not', async () => {
    const expected = [
      ...NAMING.map((key) => `idempotency_key/${calls.get(key)}`),
      ...replays.map((id) => `idempotency_key/${id}`),
    ];
    const dry = await erase(NUMBER, '--dry-run');
    expect(dry.places.filter((place) => !place.startsWith('access_filters/'))).toEqual(expected.sort());
    const records = await query('SELECT record FROM intent ORDER BY id');
    const erased = await erase(NUMBER, '--yes');
    expect(erased).toMatchObject({ places: dry.places, open: [], exitCode: undefined });
    expect(await query('SELECT record FROM intent ORDER BY id')).toEqual(records);
    const all = await everythingIn(paying.proxy.database);
    for (const [table, rows] of Object.entries(all))
      expect([table, rows]).toEqual([table, expect.not.stringMatching(DIGITS)]);
    for (const key of OTHERS) expect((await found(key)).map((call) => call.idempotency_key)).toEqual([key]);
    expect(await erase(NUMBER, '--yes')).toMatchObject({ id: null, places: [], exitCode: undefined });
  });

  it('is shown as erased, and every proof stays valid', async () => {
    const [key = ''] = NAMING;
    const id = calls.get(key) ?? '';
    expect(await verify()).toMatchObject({ ok: true });
    const rows = await exported();
    for (const one of [id, replays[0] ?? ''])
      expect([await openingsOf(one), rows.get(one)]).toEqual([[], null]);
    const { body } = await paying.proxy.get(paying.auditor, `/v1/audit/calls/${id}`).expect(200);
    expect(body.idempotency_key).toBeNull();
    expect(body.anomalies.map(({ code }) => code)).toContain('idempotency_key_erased');
    // Apps must still find their payments.
    expect((await found(key)).map((call) => [call.id, call.idempotency_key])).toContainEqual([id, null]);
  });

  it('remains taken', async () => {
    await erase(NUMBER, '--yes');
    const sent = paying.upstream.received.length;
    for (const key of NAMING) {
      const again = await pay(key).expect(200);
      expect([again.body, again.headers['idempotent-replayed']]).toMatchObject([{}, 'true']);
      await pay(key, 3).expect(422);
    }
    expect(paying.upstream.received.length).toBe(sent);
    // The keys came again.
    expect((await erase(NUMBER, '--yes')).places.length).toBeGreaterThan(NAMING.length);
  });

  it('can be reused if nothing was paid with it, and then pays once', async () => {
    const key = 'again-09099887766';
    paying.upstream.behaviour = (_request, response) => response.writeHead(401).end();
    await settleByHand(paying.proxy, await pay(key).expect(502));
    await erase(NUMBER, '--yes');
    paying.upstream.behaviour = succeed;
    const paid = idOf(await pay(key).expect(200));
    const sent = paying.upstream.received.length;
    expect((await pay(key).expect(200)).headers['idempotent-replayed']).toBe('true');
    expect(paying.upstream.received.length).toBe(sent);
    expect(await query(`SELECT key FROM idempotency_claim WHERE intent_id = $1`, [paid])).toEqual([
      { key: expect.stringMatching(/^sha256 [0-9a-f]{64}$/) },
    ]);
    expect(await verify()).toMatchObject({ ok: true });
  });

  it('waits until its call has ended', async () => {
    await erase(NUMBER, '--yes');
    paying.upstream.behaviour = (_request, _response, socket) => socket.destroy();
    const { body } = await pay('open-09099887766').expect(502);
    expect(await erase(NUMBER, '--yes')).toMatchObject({ open: [body.call_id], exitCode: 2 });
    expect((await found('open-09099887766')).map((call) => call.idempotency_key)).toEqual([
      'open-09099887766',
    ]);
  });

  it.each(['ada%40nest.example', 'for:ada%40nest.example'])(
    'may contain an address spelled %s',
    async (key) => {
      paying.upstream.behaviour = succeed;
      const id = idOf(await pay(key).expect(200));
      expect((await erase('ada@nest.example', '--yes')).places).toEqual([`idempotency_key/${id}`]);
    },
  );
});
