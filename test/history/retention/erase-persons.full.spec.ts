import { everythingIn } from '../../support/databases/everything';
import { removeExpired } from '../../support/databases/expiry';
import { succeed } from '../../support/network/fake-upstream';
import { Erasing, startErasing } from '../../support/records/erasing';
import { askAll } from '../../support/records/receipts';

const NAME = 'canary-bird.17';
const EMAIL = 'canary.bird@nest.example';

/** Columns of an export that tests read. */
interface ExportedCall {
  id: string;
  actor?: string;
  actor_source?: string;
  person_id?: string;
}

describe('audit erase --person', () => {
  let paying: Erasing;
  let before: string;
  let refused: string;
  let person: string;
  const query: Erasing['query'] = (sql, parameters) => paying.query(sql, parameters);
  const pay = (name: string, phone = '+254712345678') => paying.pay(phone).set('X-Actor', name);
  const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'] ?? '';
  const read = async (id: string) =>
    (await paying.proxy.get(paying.auditor, `/v1/audit/calls/${id}`).expect(200)).body;
  const find = async (search: string) => {
    const { body } = await paying.proxy.get(paying.auditor, `/v1/audit/calls?${search}`).expect(200);
    return body.calls.map(({ id }) => id);
  };

  const anomalies = async (id: string) =>
    (await read(id)).anomalies.map(({ code }) => code).filter((code) => code.startsWith('actor_'));
  const personOf = async (id: string) => (await read(id)).person_id ?? '';
  const erase = (named: string, ...more: string[]) =>
    paying.erase('--person', named, '--reason', 'case 18', ...more);
  const verify = () => paying.verify();
  const receiptOf = async (id: string) => {
    await paying.sealed();
    return (await paying.proxy.get(paying.auditor, `/v1/audit/calls/${id}/receipt`).expect(200)).body;
  };
  const openingsOf = async (id: string) =>
    (await receiptOf(id)).records
      .flatMap(({ openings }) => openings)
      .filter(({ commitment }) => commitment === 'actor_commitment');
  const exported = async (id: string) => (await paying.exported<ExportedCall>()).find((row) => row.id === id);
  const viewed = (id: string) =>
    query(
      `SELECT actor, actor_source, person_id FROM audit.calls WHERE id = $1
       UNION ALL SELECT actor, actor_source, person_id FROM audit.refusals WHERE call_id = $1`,
      [id],
    );

  beforeAll(async () => {
    paying = await startErasing();
    paying.upstream.behaviour = succeed;
    await query("UPDATE client SET person_daily_cap_usd = 6 WHERE name = 'app'");
    await paying.proxy.startWorker();
    before = idOf(await pay(NAME).expect(200));
    refused = idOf(
      await paying.proxy.post(paying.app, '/payouts/airtime', {}).set('X-Actor', NAME).expect(400),
    );
    person = await personOf(before);
    await find(`actor=${NAME}`);
  });
  afterAll(() => paying.close());

  it('detects a changed name or salt', async () => {
    const change = (set: string) => query(`UPDATE person SET ${set} WHERE id = $1`, [person]);
    const selected = "SELECT encode(salt, 'hex') AS salt FROM person WHERE id = $1";
    const [own] = await query<{ salt: string }>(selected, [person]);
    const ofPerson = expect.stringMatching(`${before}|${refused}`); // Both have the person.
    expect([await verify(), await anomalies(before)]).toEqual([expect.objectContaining({ ok: true }), []]);
    for (const changed of ["name = 'somebody-else'", 'salt = sha256(salt)', 'salt = substr(salt, 1, 15)']) {
      await change(changed);
      expect(await verify()).toMatchObject({
        ok: false,
        fault: { code: 'people_changed', record_id: ofPerson },
      });
      const { actor, actor_source: source, person_id: id } = await read(before);
      expect([actor, source, id, await anomalies(before)]).toEqual([
        null,
        'claimed',
        person,
        ['actor_changed'],
      ]);
      await change(`name = '${NAME}', salt = decode('${own?.salt}', 'hex')`);
    }
    await change('name = NULL, salt = NULL');
    expect(await verify()).toMatchObject({
      ok: false,
      fault: { code: 'people_missing', record_id: ofPerson },
    });
    expect(await anomalies(before)).toEqual(['actor_missing']);
    await change(`name = '${NAME}', salt = decode('${own?.salt}', 'hex')`);
    expect(await verify()).toMatchObject({ ok: true });
  });

  it('keeps a person while their call is held, to prevent its approval by the requester', async () => {
    await query("UPDATE client SET approval_over_usd = 2 WHERE name = 'app'");
    const held = idOf(await pay('canary-bird.19').expect(202));
    await query("UPDATE client SET approval_over_usd = NULL WHERE name = 'app'");
    const waits = { id: null, places: [], open: [held], exitCode: 2 };
    expect(await erase('canary-bird.19', '--yes')).toMatchObject(waits);
    expect((await read(held)).actor).toBe('canary-bird.19');
    await query(
      `INSERT INTO decision
         (intent_id, kind, reason, body_commitment, client_id, key_id, actor, decided_at, process)
       SELECT id, 'rejected', 'no', decode(record::json ->> 'body_commitment', 'hex'), client_id,
         (record::json ->> 'key_id')::uuid, NULL, clock_timestamp(), 1
       FROM intent WHERE id = $1`,
      [held],
    );
    const erased = await erase('canary-bird.19', '--yes');
    expect(erased).toMatchObject({
      places: [`person/${await personOf(held)}`],
      open: [],
      exitCode: undefined,
    });
  });

  it('leaves no byte of the name in the database, and every proof stays valid', async () => {
    const records = await query('SELECT record FROM intent ORDER BY id');
    expect(await openingsOf(before)).toMatchObject([{ value: NAME, encoding: 'utf8' }]);
    const dry = await erase(NAME, '--dry-run');
    expect(dry).toMatchObject({ id: null, open: [], kept: [], exitCode: undefined });
    expect((await read(before)).actor).toBe(NAME);

    const erased = await erase(NAME, '--client', 'app', '--yes');
    expect(erased.places).toEqual([expect.stringMatching(/^access_filters\//), `person/${person}`]);
    expect(erased).toMatchObject({
      id: expect.any(String),
      places: dry.places,
      open: [],
      exitCode: undefined,
    });
    const all = await everythingIn(paying.proxy.database);
    for (const [table, rows] of Object.entries(all))
      expect([table, rows]).toEqual([table, expect.not.stringMatching(/canary.bird.17/i)]);
    expect(await query('SELECT record FROM intent ORDER BY id')).toEqual(records);

    for (const id of [before, refused]) {
      expect(await read(id)).toMatchObject({ actor: null, actor_source: 'claimed', person_id: person });
      expect(await viewed(id)).toEqual([{ actor: null, actor_source: 'claimed', person_id: person }]);
      const row = await exported(id);
      expect([row?.actor, row?.actor_source, row?.person_id]).toEqual([null, 'claimed', person]);
      expect(await openingsOf(id)).toEqual([]);
    }
    expect(await anomalies(before)).toEqual(['actor_erased']);
    expect(await find(`person_id=${person.toUpperCase()}&actor_source=claimed`)).toEqual([refused, before]);
    expect(await verify()).toMatchObject({ ok: true });
    const receipt = await receiptOf(before);
    const { receipts } = askAll({ receipts: [{ text: JSON.stringify(receipt), keys: [receipt.log.key] }] });
    expect(receipts).toMatchObject([{ records: [expect.anything(), expect.anything()] }]);
    expect(await erase(NAME, '--yes')).toMatchObject({ id: null, places: [] });
    expect(await query('SELECT kind FROM erasure WHERE id = $1', [erased.id])).toEqual([{ kind: 'person' }]);
  });

  it('keeps the caps of a returning person, and links nothing to earlier records', async () => {
    await pay(NAME).expect(200);
    const over = await pay(NAME).expect(403); // 2.5 before the erasure, and 2.5 now, of 6.
    expect(over.body.code).toBe('cap_exceeded');
    const [call = ''] = await find(`actor=${NAME}&outcome=succeeded`);
    expect(await read(call)).toMatchObject({ actor: NAME, person_id: person });
    expect(await anomalies(call)).toEqual([]);
    expect(await find(`actor=${NAME}`)).toEqual([idOf(over), call]);
    expect(await openingsOf(call)).toMatchObject([{ value: NAME }]);
    for (const id of [before, refused]) {
      expect(await read(id)).toMatchObject({ actor: null });
      expect(await viewed(id)).toEqual([{ actor: null, actor_source: 'claimed', person_id: person }]);
      expect((await exported(id))?.actor).toBeNull();
      expect(await openingsOf(id)).toEqual([]);
    }
    expect(await anomalies(before)).toEqual(['actor_erased']);
    expect(await verify()).toMatchObject({ ok: true });
  });

  it('deletes the hash once no cap and no idempotency key needs it', async () => {
    const hash = async (id: string) =>
      query("SELECT encode(sha256, 'hex') AS hash FROM person WHERE id = $1", [id]);
    const prune = () => removeExpired(paying.proxy);
    const pass = (id: string) =>
      query("UPDATE person SET forget_after = now() - interval '1 s' WHERE id = $1", [id]);
    expect(await erase(person, '--yes')).toMatchObject({
      places: expect.arrayContaining([`person/${person}`]),
    });
    const known = await hash(person);
    await query('UPDATE person SET daily_cap_usd = 0 WHERE id = $1', [person]);
    await pass(person);
    await prune();
    expect(await hash(person)).toEqual(known); // An erasure does not lift the limit of a person.
    await query('UPDATE person SET daily_cap_usd = NULL WHERE id = $1', [person]);
    await prune();
    expect(await hash(person)).not.toEqual(known);
    const again = idOf(await pay(NAME).expect(200));
    expect(await personOf(again)).not.toBe(person);
    expect(await anomalies(before)).toEqual(['actor_erased']);
  });

  it('erases persons named by the erased contact', async () => {
    await query("UPDATE api_key SET person = $1 FROM client c WHERE c.id = client_id AND c.name = 'app'", [
      EMAIL,
    ]);
    await query("UPDATE client SET name = name, person_daily_cap_usd = NULL WHERE name = 'app'");
    const call = idOf(await paying.pay('+254712345679').expect(200));
    expect(await read(call)).toMatchObject({ actor: EMAIL, actor_source: 'key' });
    await query('UPDATE api_key SET person = NULL');
    await query('UPDATE client SET name = name');
    const found = await personOf(call);
    const erased = await paying.erase('--recipient', EMAIL.toUpperCase(), '--reason', 'case 19', '--yes');
    expect(erased).toMatchObject({ places: [`person/${found}`], open: [] });
    const all = Object.values(await everythingIn(paying.proxy.database)).join('\n');
    expect(all).not.toMatch(/canary.bird@/i);
    expect(await find(`person_id=${found}`)).toEqual([call]);
  });

  it('lists the places that keep the name', async () => {
    await paying.proxy.get(paying.auditor, '/v1/audit/calls').set('X-Actor', 'clerk-7').expect(200);
    const [access] = await query<{ id: string }>("SELECT id FROM access WHERE actor = 'clerk-7'");
    const { stdout, exitCode } = await paying.audit(
      'erase',
      '--person',
      'clerk-7',
      '--reason',
      'case 20',
      '--yes',
    );
    expect([stdout, exitCode]).toEqual([
      expect.stringMatching(new RegExp(`keep the name: .*\naccess/${access?.id}\n$`, 's')),
      2,
    ]);
  });

  it.each([
    [['--person', NAME, '--recipient', EMAIL], /either --recipient or --person/],
    [['--recipient', EMAIL, '--client', 'app'], /belong to --person/],
    [['--person', NAME, '--reason', `asked by ${NAME}, twice`], /--reason contains the name to erase/],
    [['--person', NAME], /Add --yes/],
  ])('rejects %j', async (args, message) => {
    await expect(paying.audit('erase', '--reason', 'case 18', ...args)).rejects.toThrow(message);
  });
});
