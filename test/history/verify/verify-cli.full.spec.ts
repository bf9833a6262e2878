import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newSigningKey, signerOf, splitNotes } from '../../../src/history/log/note';
import { signRecord } from '../../../src/history/log/signed-records';
import { Report } from '../../../src/history/log/verify/verify';
import { runCli } from '../../support/processes/cli';
import { Exit, Product } from '../../support/processes/process';
import { removeBody, removePerson } from '../../support/records/documents';
import { SET_SPANS, SPLIT_LEAVES } from '../../support/records/leaves';
import { anotherId, makeSealedScene, receivedAt, SealedScene } from '../../support/records/sealed-scene';

let scene: SealedScene;

beforeAll(async () => {
  scene = await makeSealedScene();
});
afterAll(() => scene.close());

function run(...args: string[]): Promise<Exit> {
  const env = { DATABASE_URL: scene.database.url, CHECKPOINT_FILE: scene.checkpointFile };
  return runCli(['audit', 'verify', ...args], env, scene.dir);
}

async function verify(...args: string[]): Promise<{ code: number | null; report: Report }> {
  const { code, stdout, stderr } = await run('--json', '--key', scene.signer.verifierKey, ...args);
  expect(stderr).toBe('');
  return { code, report: JSON.parse(stdout) as Report };
}

describe('verification after an erasure or a pruning', () => {
  const at = new Date();

  function erasure(places: string[], by = scene.signer) {
    const row = {
      id: anotherId(scene.later[3]!),
      kind: 'email' as const,
      reason: 'asked',
      actor: null,
      places,
      erased_at: at,
    };
    const values = [...Object.values(row), signRecord(by, 'erasure', row)];
    return [
      `INSERT INTO erasure (id, kind, reason, actor, places, erased_at, signature)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      values,
    ] as [string, unknown[]];
  }

  async function pruning(what: 'people' | 'calls', kept: string[], by = scene.signer) {
    const [row] = await scene.database.query('SELECT note FROM checkpoint ORDER BY size DESC LIMIT 1');
    const checkpoint = row?.note as string;
    const [went] = await scene.database.query(
      `SELECT count(*)::integer AS leaves FROM audit.leaves
       WHERE kind IN ('intent', 'outcome', 'refusal') AND record_id <> ALL ($1::uuid[])`,
      [kept],
    );
    const leaves = what === 'calls' ? (went?.leaves as number) : 0;
    const month = receivedAt(scene.calls[0]!).slice(0, 7);
    const id = anotherId(scene.later[3]!);
    const pruned = {
      id,
      what,
      month,
      reason: 'its age',
      actor: null,
      kept,
      rows: 3,
      leaves,
      checkpoint,
      pruned_at: at,
    };
    const values = [...Object.values(pruned), signRecord(by, 'pruning', pruned)];
    return [
      `INSERT INTO pruning
         (id, what, month, reason, actor, kept, rows, leaves, checkpoint, pruned_at, signature)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      values,
    ] as [string, unknown[]];
  }

  const erase = async (call: string) => [await removePerson(scene.database, call, 0), removeBody(call)];
  const placesOf = (call: string) => [`intent_body/${call}`, `item_recipient/${call}/0`];

  it('accepts exactly the erasures that the key has signed', async () => {
    const [one, other] = [scene.calls[0]!, scene.calls[1]!];
    const record = erasure(placesOf(one));
    expect(await scene.verifyAfter(record, ...(await erase(one)))).toMatchObject({ ok: true, erasures: 1 });
    expect(
      (await scene.verifyAfter(record, ...(await erase(one)), ...(await erase(other)))).fault,
    ).toMatchObject({
      code: 'people_missing',
      record_id: other,
    });
    const forged = erasure(placesOf(one), signerOf(newSigningKey('test')));
    expect((await scene.verifyAfter(forged, ...(await erase(one)))).fault).toMatchObject({
      code: 'not_signed',
      kind: 'erasure',
    });
  });

  it('accepts a month without its pruned people or calls, except for kept ones', async () => {
    const kept = scene.later[0]!;
    const people = ['intent_body', 'outcome_body'].map(
      (table) => `DELETE FROM ${table} WHERE intent_id <> '${kept}'`,
    );
    const calls = [
      ...people,
      `DELETE FROM outcome WHERE intent_id <> '${kept}'`,
      `DELETE FROM intent WHERE id <> '${kept}'`,
      'DELETE FROM refusal',
      `DELETE FROM search_entry WHERE call_id <> '${kept}'`,
      `DELETE FROM search_item WHERE call_id <> '${kept}'`,
      `DELETE FROM search_name WHERE call_id <> '${kept}'`,
    ];
    expect(await scene.verifyAfter(await pruning('people', [kept]), ...people)).toMatchObject({
      ok: true,
      prunings: 1,
      pruned: 0,
    });
    const report = await scene.verifyAfter(await pruning('calls', [kept]), ...calls);
    expect(report).toMatchObject({ ok: true, prunings: 1 });
    expect(report.pruned).toBeGreaterThan(10);
    const { fault } = await scene.verifyAfter(
      await pruning('calls', [kept]),
      ...calls,
      `DELETE FROM outcome`,
    );
    expect(fault).toMatchObject({ code: 'record_missing', kind: 'outcome', record_id: kept });
    const searched = await scene.verifyAfter(
      await pruning('calls', [kept]),
      ...calls,
      'DELETE FROM access_filters',
    );
    expect(searched.fault).toMatchObject({ code: 'people_missing', kind: 'access' });
    // A hash does not identify its record: the leaf of a kept record gets another ID.
    const renamed = `UPDATE log_leaves SET kind = 'outcome', ids = ARRAY(SELECT id FROM refusal LIMIT 1)
      WHERE kind = 'stop' AND first = (SELECT min(first) FROM log_leaves WHERE kind = 'stop')`;
    const hidden = await scene.verifyAfter(
      await pruning('calls', [kept]),
      ...SPLIT_LEAVES,
      renamed,
      SET_SPANS,
      'DELETE FROM stop WHERE NOT EXISTS (SELECT FROM leaves_of(id))',
      ...calls,
    );
    expect(hidden.fault).toMatchObject({ code: 'record_missing' });
    expect((await scene.verifyAfter(await pruning('people', []), ...calls)).fault).toMatchObject({
      code: 'record_missing',
    });
    const forged = await pruning('calls', [kept], signerOf(newSigningKey('test')));
    expect((await scene.verifyAfter(forged, ...calls)).fault).toMatchObject({
      code: 'not_signed',
      kind: 'pruning',
    });
  });
});

describe('audit verify', () => {
  it('accepts a sealed history, and reports the checks', async () => {
    const keyFile = join(scene.dir, 'log.pub');
    writeFileSync(keyFile, `${scene.signer.verifierKey}\n`);
    const [cutShort, notes] = [join(scene.dir, 'being-copied'), readFileSync(scene.checkpointFile, 'utf8')];
    writeFileSync(cutShort, notes.slice(0, -20));
    const { code, stdout, stderr } = await run('--key', keyFile, '--checkpoint', cutShort);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^verified: all .*\n\nchecked +\d+ records in [\d.]+ s, [\d,]+\/s\ncheckpoints +\d+, and \d+ copies/,
    );
    expect(stdout).toMatch(/\nnot yet sealed 0\n/);
  });

  it('requires the verification key and its files', async () => {
    const other = signerOf(newSigningKey('test')).verifierKey;
    const none = await run();
    const bad = await run('--key', 'x');
    const missing = await run('--key', other, '--checkpoint', '/none');
    const wrong = await run('--key', other);
    expect(none).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The key of the log is not known\. Give --key/),
    });
    expect(bad).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The value of --key cannot be used: /),
    });
    expect(missing).toMatchObject({ code: 1, stderr: 'The file /none does not exist.\n' });
    expect(wrong).toMatchObject({ code: 3, stdout: expect.stringMatching(/^VERIFICATION FAILED\n/) });
  });

  it('detects removed newest records from the copies alone', async () => {
    const longer = join(scene.dir, 'longer');
    const [note = ''] = splitNotes(readFileSync(scene.checkpointFile, 'utf8'));
    writeFileSync(longer, `${note}\n`);
    expect((await verify('--checkpoint', longer)).report).toMatchObject({ ok: true, witnessed: 1 });
    writeFileSync(longer, note.replace(/^test\n\d+/, 'test\n999'));
    const { code, report } = await verify('--checkpoint', longer);
    expect(code).toBe(3);
    expect(report.fault?.code).toBe('not_signed');
  });

  it('names backdated records, even after the proxy has sealed them', async () => {
    const id = anotherId(scene.calls[0]!);
    await scene.database.query(
      `INSERT INTO refusal (id, client_id, key_id, operation, request_id, client_address, status, code,
         detail, faults, fault_count, received_at, recorded_at)
       SELECT $1, client_id, key_id, operation, request_id, client_address, status, code, 'never happened',
         faults, fault_count, received_at - interval '1 day', recorded_at - interval '1 day'
       FROM refusal LIMIT 1`,
      [id],
    );
    await scene.withProxy(() => Promise.resolve());
    const { code, report } = await verify();
    expect(code).toBe(3);
    expect(report.fault).toMatchObject({
      code: 'record_in_the_past',
      kind: 'refusal',
      record_id: id,
      received_at: receivedAt(id),
      leaf: expect.any(Number),
    });
    const { stdout } = await run('--key', scene.signer.verifierKey);
    expect(stdout).toMatch(
      /^VERIFICATION FAILED\nat leaf \d+, refusal [0-9a-f-]{36}, received 20\S+Z:\nThe time of the record is/,
    );
  });
});

it('prints a new, working log key once', async () => {
  const command = (...args: string[]) =>
    new Product('cli/main.js', ['audit', 'new-key', ...args], {}, scene.dir).exit;
  const [made, refused] = await Promise.all([command('payouts.example.com'), command('my log')]);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(signerOf(made.stdout.trimEnd()).name).toBe('payouts.example.com');
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/must not .*spaces/) });
});
