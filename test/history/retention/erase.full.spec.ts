import { leafSql } from '../../../src/history/log/kinds';
import { newSigningKey, signerOf } from '../../../src/history/log/note';
import { isSignedLeaf } from '../../../src/history/log/signed-records';
import { everythingIn } from '../../support/databases/everything';
import { answer } from '../../support/network/fake-upstream';
import { eventually } from '../../support/payments/paying';
import { insertSettlements } from '../../support/records/documents';
import { Erasing, startErasing } from '../../support/records/erasing';

const EMAIL = 'canary.bird@nest.example';
const PHONE = '+2349099887766';
const HANDLE = '@CanaryBird';
const PEOPLE = ['intent_body', 'outcome_body', 'access_filters', 'idempotency_claim', 'erasure'];
const OTHER = 'bob@example.com';
/** A transaction without a recipient. */
const paid = (number: number) => ({ chiRef: `chi-${number}`, status: 'paid' });
const ok = (data: object) => answer(200, { status: 'success', data });

describe('audit erase', () => {
  let paying: Erasing;
  const query: Erasing['query'] = (sql, parameters) => paying.query(sql, parameters);
  const credits = (...items: object[]) => ({ credits: items.map((item) => ({ valueInUSD: 1.5, ...item })) });
  const post = <const Path extends string>(path: Path, body: object, key = '') =>
    paying.proxy.post(paying.app, path, body).set(key ? { 'Idempotency-Key': key } : {});
  const find = async (search: string) =>
    (await paying.proxy.get(paying.auditor, `/v1/audit/calls?${search}`).expect(200)).body.calls;
  const erase = (recipient: string, ...more: string[]) =>
    paying.erase('--recipient', recipient, '--reason', 'case 17', ...more);
  const erasures = () => query('SELECT kind, reason, actor, places FROM erasure ORDER BY id');

  beforeAll(async () => {
    paying = await startErasing({ duplicateGuard: true, duplicateWindowSeconds: 60 });
    await query('UPDATE client SET max_recipient_day_usd = 1000');
  });
  afterAll(() => paying.close());

  it('leaves no byte of a person in the database, and keeps all other data and sums', async () => {
    paying.upstream.behaviour = ok([{ ...paid(1), valueInUSD: '1.5', to: EMAIL }, paid(2)]);
    const both = await post(
      '/payouts/credit',
      credits({ email: EMAIL.toUpperCase() }, { email: OTHER }),
      'k-1',
    ).expect(200);
    paying.upstream.behaviour = ok([paid(3)]);
    const bob = await post('/payouts/credit', credits({ email: OTHER, valueInUSD: 4 }), 'k-2').expect(200);
    paying.upstream.behaviour = ok([
      { note: `x ${EMAIL.replace('@', '\\u0040')} y` },
      { 'canary.bird%40nest.example': 1 },
    ]);
    const listing = await paying.proxy.post(paying.app, '/account/transactions', {}).expect(200);
    paying.upstream.behaviour = ok({ names: 'nobody' });
    await paying.proxy.post(paying.app, '/account/transactions', {}).expect(200);
    await find(`recipient=${EMAIL}`);
    const before = await everythingIn(paying.proxy.database);
    const sums = `
      SELECT sum(total_usd)::text AS total, (SELECT sum(usd)::text FROM spending) AS spent, count(*)
      FROM intent`;
    const [sum] = await query(sums);

    const [bothId, listingId] = [both.headers['x-call-id'], listing.headers['x-call-id']];
    const dry = await erase(EMAIL, '--dry-run');
    expect(dry).toMatchObject({ id: null, open: [] });
    const unchanged = await everythingIn(paying.proxy.database);
    for (const table of PEOPLE) expect(unchanged[table]).toBe(before[table]);

    const erased = await erase(EMAIL, '--yes', '--actor', 'dpo');
    expect(erased.exitCode).toBeUndefined();
    const [access] = await query<{ id: string }>(
      'SELECT id FROM access WHERE filters_commitment IS NOT NULL',
    );
    expect(erased.places).toEqual([
      `access_filters/${access?.id}`,
      `intent_body/${bothId}`,
      `item_recipient/${bothId}/0`,
      ...[bothId, listingId].sort().map((id) => `outcome_body/${id}`),
    ]);
    expect(erased.places).toEqual(dry.places);
    const after = await everythingIn(paying.proxy.database);
    expect(Object.values(before).join('')).toMatch(/canary/i);
    for (const [table, rows] of Object.entries(after))
      expect([table, rows]).toEqual([table, expect.not.stringMatching(/canary/i)]);
    for (const table of ['intent', 'outcome', 'access']) expect(after[table]).toBe(before[table]);

    expect(await query('SELECT email FROM item_recipient ORDER BY intent_id, position')).toEqual([
      { email: OTHER },
      { email: OTHER },
    ]);
    expect((await query(sums))[0]).toEqual(sum);
    expect(await find(`recipient=${EMAIL}`)).toEqual([]);
    expect((await find(`recipient=${OTHER}`)).map(({ id }) => id).sort()).toEqual(
      [bothId, bob.headers['x-call-id']].sort(),
    );
    const record = await paying.record(both);
    expect(record).toMatchObject({ request: { body: null }, response: { body: null }, total_usd: '3' });
    expect(record.items.map((item) => item.recipient.email)).toEqual([null, OTHER]);

    // No salts or hashes remain for comparison with a guess.
    expect(await query(`SELECT key, salt, content_hash FROM idempotency_claim ORDER BY key LIMIT 1`)).toEqual(
      [{ key: 'k-1', salt: null, content_hash: null }],
    );
    expect(await query('SELECT intent_id AS id FROM recent_content')).toEqual([
      { id: bob.headers['x-call-id'] },
    ]);
    expect(await query('SELECT intent_id AS id, position FROM recipient_payment ORDER BY intent_id')).toEqual(
      [
        { id: bothId, position: 1 },
        { id: bob.headers['x-call-id'], position: 0 },
      ],
    );
    const sent = paying.upstream.received.length;
    const again = await post(
      '/payouts/credit',
      credits({ email: EMAIL.toUpperCase() }, { email: OTHER }),
      'k-1',
    ).expect(200);
    expect(again.body).toMatchObject({ status: 'success', call_id: bothId });
    await post('/payouts/credit', credits({ email: OTHER, valueInUSD: 5 }), 'k-2').expect(422);
    expect(paying.upstream.received.length).toBe(sent);
  });

  it('records the erasure, signed and without the person, and finds nothing the second time', async () => {
    const places = expect.arrayContaining([expect.any(String)]);
    expect(await erasures()).toEqual([{ kind: 'email', reason: 'case 17', actor: 'dpo', places }]);
    const [row] = await query<{ leaf: string }>(`SELECT ${leafSql('erasure', 't')} AS leaf FROM erasure t`);
    expect(isSignedLeaf(signerOf(paying.logKey), 'erasure', row!.leaf)).toBe(true);
    expect(isSignedLeaf(signerOf(newSigningKey('test')), 'erasure', row!.leaf)).toBe(false);
    // The searches after the erasure have named her again.
    expect((await erase(EMAIL, '--yes')).places).toEqual([expect.stringMatching(/^access_filters/)]);
    const nothing = { id: null, places: [], open: [] };
    expect(await erase(EMAIL, '--yes')).toEqual({ ...nothing, exitCode: undefined });
    expect(await erasures()).toHaveLength(2);
  });

  it('finds phone numbers and handles in any spelling, and no similar ones', async () => {
    paying.upstream.behaviour = ok([{ ...paid(4), tel: '0909 988 7766' }]);
    const item = { countryToSend: 'Nigeria', valueInUSD: 1 };
    const hers = await post('/payouts/airtime', { airtimes: [{ ...item, phoneNumber: PHONE }] }).expect(200);
    const listing = await paying.proxy.post(paying.app, '/account/transactions', {}).expect(200);
    paying.upstream.behaviour = ok([{ ...paid(5), tel: 2349099887767, who: '@CanaryBirds' }]);
    const similar = { ...item, phoneNumber: '+2349099887767' };
    const likes = await post('/payouts/airtime', { airtimes: [similar] }).expect(200);
    const phone = await erase('+234 909-988 7766', '--yes');
    expect(phone.places).toEqual(
      [
        `item_recipient/${hers.headers['x-call-id']}/0`,
        ...['intent_body', 'outcome_body'].map((table) => `${table}/${hers.headers['x-call-id']}`),
        `outcome_body/${listing.headers['x-call-id']}`,
      ].sort(),
    );
    paying.upstream.behaviour = ok([{ ...paid(6), handle: 'canarybird' }]);
    const tagged = await post('/payouts/credit', credits({ twitter: HANDLE.toLowerCase() })).expect(200);
    const handle = await erase(HANDLE, '--yes');
    expect(handle.places).toHaveLength(3);
    expect(handle.places[0]).toContain(tagged.headers['x-call-id']);
    expect((await paying.record(likes)).response!.body).not.toBeNull();
  });

  it('removes a person from source rows, and keeps the rest of them', async () => {
    const read = '01a1ff28-88a4-700c-821b-3920b7db92a2';
    const rows = [
      { email: 'Dodo@nest.example', reference: 'a' },
      { phone: '+234 801 112 2233', reference: 'b' },
      { phone: '08011122233', reference: 'c' },
      { handle: 'dodobird', reference: 'd' },
      { reference: 'for dodo@nest.example', receiver: '@DodoBird' },
      { reference: 'order 2348011122233', amount_usd: '1.5' },
      { phone: '+2348011122234', reference: 'e-dodo@nest.example.com', handle: '@dodobirds' },
    ].map((row, ordinal) => ({ read_id: read, ordinal, ...row }));
    await query(
      `INSERT INTO upstream_transaction
       SELECT * FROM json_populate_recordset(NULL::upstream_transaction, $1)`,
      [JSON.stringify(rows)],
    );
    const places = async (recipient: string) => (await erase(recipient, '--yes')).places;
    const rowsNamed = (...ordinals: number[]) =>
      ordinals.map((ordinal) => `upstream_transaction/${read}/${ordinal}`);
    expect(await places('dodo@nest.example')).toEqual(rowsNamed(0, 4));
    expect(await places('+2348011122233')).toEqual(rowsNamed(1, 2, 5));
    expect(await places('@DodoBird')).toEqual(rowsNamed(3, 4));
    expect(await places('@DodoBird')).toEqual([]);
    const left = await query(
      `SELECT concat_ws(' ', email, phone, handle, reference, receiver, amount_usd) AS left
       FROM upstream_transaction ORDER BY ordinal`,
    );
    expect(left.map((row) => row.left)).toEqual([
      'a',
      'b',
      'c',
      'd',
      '',
      '1.500000',
      '+2348011122234 @dodobirds e-dodo@nest.example.com',
    ]);
  });

  it('keeps and lists unfinished calls, and exits with 2', async () => {
    paying.upstream.behaviour = (_request, _response, socket) => socket.destroy();
    const { body } = await post('/payouts/credit', credits({ email: EMAIL, valueInUSD: 9 })).expect(502);
    const count = (await erasures()).length;
    const waiting = { id: null, places: [], open: [body.call_id], exitCode: 2 };
    expect(await erase(EMAIL, '--yes')).toEqual(waiting);
    const { stdout: text } = await paying.audit(
      'erase',
      '--recipient',
      EMAIL,
      '--reason',
      'case 17',
      '--yes',
    );
    expect(text).toBe(
      'Nothing to erase: no call with a final outcome contains the email.\n1 calls have no final outcome ' +
        `yet and were not changed. Settle them, then run this command again:\n${body.call_id}\n`,
    );
    expect(await erasures()).toHaveLength(count);
    await insertSettlements(paying.proxy.database, [{ intent_id: body.call_id, resolution: 'confirmed' }]);
    expect((await erase(EMAIL, '--yes')).places).toHaveLength(2);
  });

  it.each([
    [['ada'], /must be an email address, a phone number/],
    [[EMAIL, '--reason', `asked by ${EMAIL}`], /--reason contains the contact to erase/],
    [[EMAIL, '--reason', ' '], /--reason must be text/],
    [[EMAIL, '--actor', EMAIL], /--actor must be/],
  ])('rejects %j', async (args, message) => {
    await expect(erase(args[0] ?? '', ...args.slice(1), '--yes')).rejects.toThrow(message);
  });

  it('requires a confirmation and the log key', async () => {
    await post('/payouts/credit', credits({ email: EMAIL, valueInUSD: 11 })).expect(502);
    const named = `SELECT intent_id FROM item_recipient WHERE email = '${EMAIL}'`;
    const calls = await query<{ intent_id: string }>(named);
    await insertSettlements(
      paying.proxy.database,
      calls.map((call) => ({ ...call, resolution: 'confirmed' })),
    );
    await expect(erase(EMAIL)).rejects.toThrow(/Add --yes/);
    await paying.proxy.startWorker();
    await eventually(async () => (await query('SELECT FROM checkpoint LIMIT 1')).length > 0);
    process.env.LOG_SIGNING_KEY = newSigningKey('test');
    await expect(erase(EMAIL, '--yes')).rejects.toThrow(/not the key that signed the latest checkpoint/);
    delete process.env.LOG_SIGNING_KEY;
    process.env.DATA_DIR = '/nonexistent';
    await expect(erase(EMAIL, '--yes')).rejects.toThrow(/Set LOG_SIGNING_KEY/);
    delete process.env.DATA_DIR;
    expect(await query(`SELECT count(*)::int AS left FROM item_recipient WHERE email = '${EMAIL}'`)).toEqual([
      { left: 1 },
    ]);
  });
});
