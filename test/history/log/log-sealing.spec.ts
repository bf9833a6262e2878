import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { readHead, signHead } from '../../../src/history/log/head';
import { CompactRange } from '../../../src/history/log/merkle';
import { ringOf, newSigningKey, signerOf, splitNotes } from '../../../src/history/log/note';
import { CheckpointFile } from '../../../src/history/log/sealing/checkpoint-file';
import { LogRefusal } from '../../../src/history/log/sealing/head-check';
import { Sealing } from '../../../src/history/log/sealing/sealing';
import { storedHashes } from '../../../src/history/log/tree-store';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { changeLeaf } from '../../support/records/leaves';
import {
  addStops,
  leavesIn,
  newest,
  rootOfRecords,
  sealAll,
  sealerClient,
  tamper,
} from '../../support/records/sealing';

const signer = signerOf(newSigningKey('test'));
const ring = ringOf([signer]);
const dir = mkdtempSync(join(tmpdir(), 'payout-proxy-sealing-'));
let database: TestDatabase;
let client: Client;
let other: Client;

beforeEach(async () => {
  database = await createTestDatabase();
  [client, other] = [await sealerClient(database), new Client({ connectionString: database.ownerUrl })];
  await other.connect();
});
afterEach(async () => {
  await client.end();
  await other.end();
  await database.close();
});
afterAll(() => rmSync(dir, { recursive: true }));

const newFile = (name: string) => CheckpointFile.open(join(dir, name), ring);

describe('sealing', () => {
  it('gives each record one leaf, in batches, and signs the root of the records', async () => {
    const ids = await addStops(database, 300);
    await database.query('INSERT INTO stop_lift (stop_id) SELECT id FROM stop LIMIT 10');
    const sealing = new Sealing(ring, undefined, 100);
    await sealAll(sealing, client);
    const sealed = await leavesIn(database);
    expect(sealed).toHaveLength(310);
    expect(sealed.every((leaf) => 'right' in leaf && leaf.right)).toBe(true);
    expect(new Set(sealed.map(({ kind, id }) => `${kind} ${id}`)).size).toBe(310);
    expect(ids.every((id) => sealed.some((leaf) => leaf.id === id && leaf.kind === 'stop'))).toBe(true);
    const head = await newest(database, ring);
    expect(head.size).toBe(310);
    expect(head.root).toEqual(await rootOfRecords(database));
    const [node] = await storedHashes((sql, values) => database.query(sql, values), [{ level: 8, index: 0 }]);
    const first = CompactRange.of(0, []);
    sealed.slice(0, 256).forEach(({ hash }) => first.append(Buffer.from(hash, 'hex')));
    expect(node).toEqual(first.root());
    expect(await sealing.pass(client)).toEqual({ sealed: 0, size: 310, more: false });
  });

  it('includes records that commit late, because later ones wait for them', async () => {
    const sealing = new Sealing(ring, undefined);
    await sealAll(sealing, client);
    await other.query('BEGIN');
    const [early] = await addStops(other, 1);
    const [late] = await addStops(database, 1);
    expect(await sealing.pass(client)).toEqual({ sealed: 0, size: 0, more: false });
    expect(sealing.waits).toBeGreaterThan(0);
    await other.query('COMMIT');
    await sealAll(sealing, client);
    expect((await leavesIn(database)).map(({ id }) => id)).toEqual([early, late]);
  });

  it('states its completeness time, and no later record has an earlier time', async () => {
    const sealing = new Sealing(ring, undefined);
    const timeOf = async (id: string | undefined) =>
      (await database.query('SELECT stopped_at AS at FROM stop WHERE id = $1', [id]))[0]?.at as Date;
    const [before] = await addStops(database, 1);
    await sealAll(sealing, client);
    const { completeUntil } = await newest(database, ring);
    expect(new Date(completeUntil ?? 0).getTime()).toBeGreaterThanOrEqual((await timeOf(before)).getTime());
    await other.query('BEGIN');
    const [open] = await addStops(other, 1);
    await database.query('SELECT pg_sleep(0.02)');
    await addStops(database, 1);
    await sealing.pass(client);
    await other.query('COMMIT');
    await sealing.pass(client);
    expect(new Date(completeUntil ?? 0).getTime()).toBeLessThanOrEqual((await timeOf(open)).getTime());
    await sealAll(sealing, client);
    expect((await newest(database, ring)).size).toBe(3);
  });

  it('has records until a time, as their transactions begin before their times', async () => {
    const early = await database.query(
      `SELECT tx.table_name, at.column_name FROM information_schema.columns tx
         JOIN information_schema.columns at USING (table_schema, table_name)
       WHERE table_schema = 'public' AND tx.column_name = 'tx' AND at.column_default = 'clock_timestamp()'
         AND at.ordinal_position < tx.ordinal_position`,
    );
    expect(early).toEqual([]);
  });

  it('builds one tree with concurrent sealers, with each record in it once', async () => {
    const second = await sealerClient(database);
    const writers = Array.from({ length: 4 }, async () => {
      for (let turn = 0; turn < 20; turn += 1) await addStops(database, 3);
    });
    const work = [
      { sealing: new Sealing(ring, await newFile('first'), 20), client },
      { sealing: new Sealing(ring, await newFile('second'), 20), client: second },
    ];
    let writing = true;
    const sealers = work.map(async (own) => {
      while (writing) await own.sealing.pass(own.client);
    });
    await Promise.all(writers);
    writing = false;
    await Promise.all(sealers);
    for (const own of work) await sealAll(own.sealing, own.client);
    await second.end();
    expect(await leavesIn(database)).toHaveLength(240);
    const head = await newest(database, ring);
    expect(head).toMatchObject({ size: 240, root: await rootOfRecords(database) });
    for (const name of ['first', 'second']) {
      const heads = splitNotes(readFileSync(join(dir, name), 'utf8')).map((note) => readHead(note, ring));
      expect(heads.at(-1)).toEqual(head);
    }
  });

  it('completes and repairs the checkpoint file after a crash', async () => {
    const file = await newFile('crash');
    await addStops(database, 1);
    await sealAll(new Sealing(ring, file), client);
    for (let crash = 0; crash < 2; crash += 1) {
      await addStops(database, 1);
      const crashing = new Sealing(ring, await newFile('crash'));
      while ((await crashing.pass(client)).sealed === 0); // Appends no note.
    }
    appendFileSync(join(dir, 'crash'), 'test\n9\nhalf a li');
    await sealAll(new Sealing(ring, await newFile('crash')), client);
    const notes = splitNotes(readFileSync(join(dir, 'crash'), 'utf8'));
    expect(notes.map((note) => readHead(note, ring).size)).toEqual([1, 2, 3]);
  });

  it('never reduces its completeness time', async () => {
    const sealing = new Sealing(ring, undefined);
    await addStops(database, 1);
    await sealAll(sealing, client);
    const completeUntil = '2099-01-01T00:00:00.000000Z'; // From before a clock was set back.
    const note = signHead({ ...(await newest(database, ring)), completeUntil }, ring);
    await tamper(database, `UPDATE checkpoint SET note = '${note}', complete_until = '${completeUntil}'`);
    await addStops(database, 1);
    await sealAll(sealing, client);
    expect(await newest(database, ring)).toMatchObject({ size: 2, completeUntil });
  });

  describe('a sealer that extends the log', () => {
    let sealing: Sealing;

    beforeEach(async () => {
      await addStops(database, 20);
      sealing = new Sealing(ring, await newFile(expect.getState().currentTestName ?? ''), 10);
      await sealAll(sealing, client);
      await addStops(database, 1);
    });

    const refusal = async (by: Sealing) => {
      const error: unknown = await by.pass(client).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(LogRefusal);
      return (error as Error).message;
    };

    it('rejects a log whose newest leaves and checkpoint are missing, also after a restart', async () => {
      await tamper(
        database,
        'DELETE FROM checkpoint WHERE size > 10; DELETE FROM log_leaves WHERE first >= 10',
      );
      expect(await refusal(sealing)).toMatch(
        /^the log has 10 leaves and had 20: the newest leaves were removed/,
      );
      expect(
        await refusal(new Sealing(ring, await newFile(expect.getState().currentTestName ?? ''))),
      ).toMatch(/had 20/);
    });

    it('rejects a log in which a leaf was replaced or removed', async () => {
      await tamper(database, changeLeaf(7));
      expect(await refusal(sealing)).toMatch(
        /^the log does not match its signature: the root of the 20 stored leaves differs/,
      );
      await tamper(
        database,
        'UPDATE log_leaves SET ids = ids[2:], hashes = substring(hashes FROM 33) WHERE first = 0',
      );
      expect(await refusal(sealing)).toMatch(/1 of the log's leaves from 0 to 15 are missing/);
    });

    it('rejects a log signed by another key', async () => {
      const foreign = new Sealing(ringOf([signerOf(newSigningKey('test'))]), undefined);
      await tamper(database, 'DELETE FROM checkpoint; DELETE FROM log_leaves');
      await sealAll(foreign, client);
      expect(await refusal(sealing)).toMatch(
        /^the log does not match its signature: The note is not signed by test\+/,
      );
    });

    it('rejects another log signed by our key', async () => {
      await tamper(database, 'DELETE FROM checkpoint; DELETE FROM log_leaves');
      await tamper(
        database,
        `UPDATE stop SET reason = 'another' WHERE id = (SELECT id FROM stop ORDER BY id LIMIT 1)`,
      );
      await sealAll(new Sealing(ring, undefined), client);
      expect(await refusal(sealing)).toMatch(/its first 20 leaves have changed/);
    });
  });
});
