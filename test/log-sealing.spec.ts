import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { CheckpointFile } from '../src/history/log/checkpoint-file';
import { readHead } from '../src/history/log/head';
import { LogRefusal } from '../src/history/log/head-check';
import { KIND_NAMES, kindOf } from '../src/history/log/kinds';
import { leafSql } from '../src/history/log/leaves';
import { CompactRange, leafHash } from '../src/history/log/merkle';
import { newSigningKey, signerOf, splitNotes } from '../src/history/log/note';
import { Sealing } from '../src/history/log/sealing';
import { storedHashes } from '../src/history/log/tree-store';
import { addStops, sealAll, sealerClient } from './support/sealing';
import { createTestDatabase, TestDatabase } from './support/test-database';

const signer = signerOf(newSigningKey('test'));
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

const newFile = (name: string) => CheckpointFile.open(join(dir, name), signer);

/** As whoever owns the database can. */
async function tamper(sql: string): Promise<void> {
  await database.query(`SET session_replication_role = replica`);
  await database.query(sql);
  await database.query(`RESET session_replication_role`);
}

async function leaves(): Promise<{ kind: string; id: string; hash: string }[]> {
  return database.query(
    `SELECT kind, record_id AS id, encode(hash, 'hex') AS hash, index = row_number() OVER (ORDER BY index) - 1 AS right
     FROM log_leaf ORDER BY index`,
  );
}

/** The whole tree again, from the records and the order of the leaves. */
async function rootOfRecords(): Promise<Buffer> {
  const range = CompactRange.of(0, []);
  for (const { kind, id } of await leaves()) {
    const name = KIND_NAMES.find((known) => known === kind)!;
    const [row] = await database.query(
      `SELECT ${leafSql(name, 't')} AS leaf FROM ${name} t WHERE ${kindOf(name).key} = $1`,
      [id],
    );
    range.append(leafHash(row?.leaf as string));
  }
  return range.root();
}

async function newest() {
  const [row] = await database.query('SELECT size, note FROM checkpoint ORDER BY size DESC LIMIT 1');
  return readHead(row?.note as string, signer);
}

describe('sealing', () => {
  it('gives each record one leaf, in batches, and signs the root of the records', async () => {
    const ids = await addStops(database, 300);
    await database.query('INSERT INTO stop_lift (stop_id) SELECT id FROM stop LIMIT 10');
    const sealing = new Sealing(signer, undefined, 100);
    await sealAll(sealing, client);
    const sealed = await leaves();
    expect(sealed).toHaveLength(310);
    expect(sealed.every((leaf) => 'right' in leaf && leaf.right)).toBe(true);
    expect(new Set(sealed.map(({ kind, id }) => `${kind} ${id}`)).size).toBe(310);
    expect(ids.every((id) => sealed.some((leaf) => leaf.id === id && leaf.kind === 'stop'))).toBe(true);
    const head = await newest();
    expect(head.size).toBe(310);
    expect(head.root).toEqual(await rootOfRecords());
    const [node] = await storedHashes((sql, values) => database.query(sql, values), [{ level: 8, index: 0 }]);
    const first = CompactRange.of(0, []);
    sealed.slice(0, 256).forEach(({ hash }) => first.append(Buffer.from(hash, 'hex')));
    expect(node).toEqual(first.root());
    expect(await sealing.pass(client)).toEqual({ sealed: 0, size: 310, more: false });
  });

  it('includes records that commit late, because later ones wait for them', async () => {
    const sealing = new Sealing(signer, undefined);
    await sealAll(sealing, client);
    await other.query('BEGIN');
    const [early] = await addStops(other, 1);
    const [late] = await addStops(database, 1);
    expect(await sealing.pass(client)).toEqual({ sealed: 0, size: 0, more: false });
    expect(sealing.waits).toBeGreaterThan(0);
    await other.query('COMMIT');
    await sealAll(sealing, client);
    expect((await leaves()).map(({ id }) => id)).toEqual([early, late]);
  });

  it('states up to when it is complete, and no later record has an earlier time', async () => {
    const sealing = new Sealing(signer, undefined);
    const timeOf = async (id: string | undefined) =>
      (await database.query('SELECT stopped_at AS at FROM stop WHERE id = $1', [id]))[0]?.at as Date;
    const [before] = await addStops(database, 1);
    await sealAll(sealing, client);
    const { completeUntil } = await newest();
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
    expect((await newest()).size).toBe(3);
  });

  it('builds one tree with concurrent sealers, with each record in it once', async () => {
    const second = await sealerClient(database);
    const writers = Array.from({ length: 4 }, async () => {
      for (let turn = 0; turn < 20; turn += 1) await addStops(database, 3);
    });
    const work = [
      { sealing: new Sealing(signer, await newFile('first'), 20), client },
      { sealing: new Sealing(signer, await newFile('second'), 20), client: second },
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
    expect(await leaves()).toHaveLength(240);
    const head = await newest();
    expect(head).toMatchObject({ size: 240, root: await rootOfRecords() });
    for (const name of ['first', 'second']) {
      const heads = splitNotes(readFileSync(join(dir, name), 'utf8')).map((note) => readHead(note, signer));
      expect(heads.at(-1)).toEqual(head);
    }
  });

  it('adds to the checkpoint file what a crash left out, and repairs what a crash cut off', async () => {
    const file = await newFile('crash');
    await addStops(database, 1);
    await sealAll(new Sealing(signer, file), client);
    for (let crash = 0; crash < 2; crash += 1) {
      await addStops(database, 1);
      const crashing = new Sealing(signer, await newFile('crash'));
      while ((await crashing.pass(client)).sealed === 0); // and nothing is appended
    }
    appendFileSync(join(dir, 'crash'), 'test\n9\nhalf a li');
    await sealAll(new Sealing(signer, await newFile('crash')), client);
    const notes = splitNotes(readFileSync(join(dir, 'crash'), 'utf8'));
    expect(notes.map((note) => readHead(note, signer).size)).toEqual([1, 2, 3]);
  });

  it('continues after a backup was restored to another server, whatever its transaction numbers', async () => {
    await addStops(database, 2);
    await sealAll(new Sealing(signer, undefined), client);
    await tamper(
      `UPDATE checkpoint SET positions = jsonb_build_object('stop', jsonb_build_array('9999999999', gen_random_uuid()))`,
    );
    await database.query(
      `INSERT INTO stop (id, reason, tx) VALUES (gen_random_uuid(), 'before the backup', '8888888888')`,
    );
    await addStops(database, 1);
    await sealAll(new Sealing(signer, undefined), client);
    expect(await newest()).toMatchObject({ size: 4, root: await rootOfRecords() });
  });

  describe('a sealer that extends the log', () => {
    let sealing: Sealing;

    beforeEach(async () => {
      await addStops(database, 20);
      sealing = new Sealing(signer, await newFile(expect.getState().currentTestName ?? ''), 10);
      await sealAll(sealing, client);
      await addStops(database, 1);
    });

    const refusal = async (by: Sealing) => {
      const error: unknown = await by.pass(client).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(LogRefusal);
      return (error as Error).message;
    };

    it('rejects a log whose newest leaves and checkpoint are gone, also after a restart', async () => {
      await tamper('DELETE FROM checkpoint WHERE size > 10; DELETE FROM log_leaf WHERE index >= 10');
      expect(await refusal(sealing)).toMatch(/^the log has 10 leaves and had 20: the newest leaves were removed/);
      expect(await refusal(new Sealing(signer, await newFile(expect.getState().currentTestName ?? '')))).toMatch(
        /had 20/,
      );
    });

    it('rejects a log in which a leaf was replaced or removed', async () => {
      await tamper(`UPDATE log_leaf SET hash = sha256('x') WHERE index = 7`);
      expect(await refusal(sealing)).toMatch(
        /^the log does not match its signature: the root of the 20 stored leaves differs/,
      );
      await tamper('DELETE FROM log_leaf WHERE index = 7');
      expect(await refusal(sealing)).toMatch(/1 of the log's leaves from 0 to 15 are missing/);
    });

    it('rejects a log that another key has signed', async () => {
      const foreign = new Sealing(signerOf(newSigningKey('test')), undefined);
      await tamper('DELETE FROM checkpoint; DELETE FROM log_leaf');
      await sealAll(foreign, client);
      expect(await refusal(sealing)).toMatch(/^the log does not match its signature: The note is not signed by test\+/);
    });

    it('rejects another log that our key has signed', async () => {
      await tamper('DELETE FROM checkpoint; DELETE FROM log_leaf');
      await tamper(`UPDATE stop SET reason = 'another' WHERE id = (SELECT id FROM stop ORDER BY id LIMIT 1)`);
      await sealAll(new Sealing(signer, undefined), client);
      expect(await refusal(sealing)).toMatch(/its first 20 leaves have changed/);
    });
  });
});
