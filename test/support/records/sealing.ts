import { Client, ClientBase } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { Head, readHead } from '../../../src/history/log/head';
import { KIND_NAMES, kindOf, leafSql } from '../../../src/history/log/kinds';
import { CompactRange } from '../../../src/history/log/merkle';
import { KeyRing } from '../../../src/history/log/note';
import { connectSealer } from '../../../src/history/log/sealing/sealer.service';
import { Sealing } from '../../../src/history/log/sealing/sealing';
import { TestDatabase } from '../databases/test-database';
import { eventually } from '../payments/paying';
import { leafHash } from './leaf-hash';

/** Opens a sealer's connection to a test's database. */
export function sealerClient({ ownerUrl, url }: TestDatabase): Promise<Client> {
  return connectSealer({ databaseSealerUrl: undefined, databaseOwnerUrl: ownerUrl, databaseUrl: url });
}

interface Queryable {
  query(sql: string, values: unknown[]): Promise<unknown>;
}

/**
 * Adds stops, the smallest records.
 * @returns their IDs.
 */
export async function addStops(database: Queryable, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => uuidv7());
  await database.query(`INSERT INTO stop (id, reason) SELECT id, 'a test' FROM unnest($1::uuid[]) id`, [ids]);
  return ids;
}

/** Seals all records. Transactions of other tests on the same server may delay it briefly. */
export async function sealAll(sealing: Sealing, client: ClientBase): Promise<void> {
  await eventually(async () => {
    const { sealed } = await sealing.pass(client);
    return sealed === 0 && sealing.waits === 0;
  });
  await sealing.appendNotes(client);
}

/** Changes records or the log, as the owner of the database. */
export async function tamper(database: TestDatabase, sql: string): Promise<void> {
  await database.query(`SET session_replication_role = replica`);
  await database.query(sql);
  await database.query(`RESET session_replication_role`);
}

/** Returns all leaves, and whether one is missing before each. */
export function leavesIn(database: TestDatabase) {
  return database.query<{ kind: string; id: string; hash: string; right: boolean }>(
    `SELECT kind, record_id AS id, encode(hash, 'hex') AS hash,
      index = row_number() OVER (ORDER BY index) - 1 AS right
     FROM audit.leaves ORDER BY index`,
  );
}

/** Recomputes the whole tree from the records and the order of the leaves. */
export async function rootOfRecords(database: TestDatabase): Promise<Buffer> {
  const range = CompactRange.of(0, []);
  for (const { kind, id } of await leavesIn(database)) {
    const name = KIND_NAMES.find((known) => known === kind)!;
    const [row] = await database.query(
      `SELECT ${leafSql(name, 't')} AS leaf FROM ${name} t WHERE ${kindOf(name).key} = $1`,
      [id],
    );
    range.append(leafHash(row?.leaf as string));
  }
  return range.root();
}

export async function newest(database: TestDatabase, ring: KeyRing): Promise<Head> {
  const [row] = await database.query('SELECT size, note FROM checkpoint ORDER BY size DESC LIMIT 1');
  return readHead(row?.note as string, ring);
}
