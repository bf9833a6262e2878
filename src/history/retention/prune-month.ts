import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { openCalls } from '../../operations/lifecycle/lifecycle-sql';
import { clock } from '../../platform/database/clock';
import { newId } from '../../platform/database/ids';
import { codeOf } from '../../platform/errors/error-code';
import { Pruning, signRecord } from '../log/signed-records';
import { RemovalRequest } from './erasures';
import { evidenceOf, removeEvidence } from './evidence';
import { Condition, hashKeysOfClaims } from './keys';
import {
  CALL_TABLES,
  EVIDENCE_TABLES,
  idOf,
  Month,
  PartitionedTable,
  partitionOf,
  PEOPLE_TABLES,
} from './months';
import { lockIndex, reindex } from './reindex';

export type PruningTarget = Pruning['what'];

/** Data that pruning a month would remove. */
export interface Losses {
  /** Calls that are removed, or lose their bodies and recipients. */
  rows: number;
  /** Sealed records that are removed. */
  leaves: number;
  /** Source rows that are removed, or lose the people they name. */
  evidence: number;
  /** IDs of unfinished calls, which stay. */
  kept: string[];
}

/** Limit of the wait for the locks, in ms. It is shorter than the deadlock timeout. */
const LOCK_TIMEOUT_MS = 800;
const LOCK_ATTEMPTS = 60;
const LOCK_PAUSE_MS = 1_000;

/** Prefix of detached tables, which await their drop. */
const DETACHED = 'pruned_';

/** Returns the tables whose partitions are removed. */
function tablesOf(what: PruningTarget): readonly PartitionedTable[] {
  return what === 'people' ? PEOPLE_TABLES : [...CALL_TABLES, ...EVIDENCE_TABLES];
}

/** Returns the tables whose rows and partitions give the months. */
export function monthsIn(what: PruningTarget): readonly PartitionedTable[] {
  return what === 'people' ? [...PEOPLE_TABLES, 'upstream_transaction'] : tablesOf(what);
}

export async function lossesOf(db: Client, month: Month, what: PruningTarget): Promise<Losses> {
  const { from, to } = month;
  const open = await db.query<{ id: string }>(openCalls('i.id >= $1 AND i.id < $2'), [from, to]);
  const kept = open.rows.map(({ id }) => id);
  const ids = (what === 'people' ? PEOPLE_TABLES : CALL_TABLES)
    .map((table) => `SELECT ${idOf(table)} FROM ${table} WHERE ${idOf(table)} >= $1 AND ${idOf(table)} < $2`)
    .join(' UNION ');
  const { rows } = await db.query<{ count: string }>(
    `SELECT count(*) FROM (${ids}) AS calls(id) WHERE id <> ALL ($3::uuid[])`,
    [from, to, kept],
  );
  const leaves = what === 'calls' ? await leavesOf(db, month, kept) : 0;
  return { rows: Number(rows[0]?.count ?? 0), leaves, evidence: await evidenceOf(db, month, what), kept };
}

async function leavesOf(db: Client, { from, to }: Month, kept: string[]): Promise<number> {
  const { rows } = await db.query<{ count: string }>(
    `SELECT count(*) FROM (
       SELECT id FROM intent UNION ALL SELECT intent_id FROM outcome UNION ALL SELECT id FROM refusal
     ) AS records(id) WHERE id >= $1 AND id < $2 AND id <> ALL ($3::uuid[])`,
    [from, to, kept],
  );
  return Number(rows[0]?.count ?? 0);
}

/**
 * Removes a month from the tables in one transaction, with its record. Unfinished calls move to the default
 * partition with all their rows.
 * @param checkpoint note that covers the month.
 */
export async function pruneMonth(
  db: Client,
  month: Month,
  what: PruningTarget,
  losses: Losses,
  checkpoint: string,
  request: RemovalRequest,
): Promise<void> {
  await removeClaims(db, month, what, losses.kept);
  await withLock(db, tablesOf(what), async () => {
    for (const table of tablesOf(what)) await detachMonth(db, table, month, losses.kept);
    await record(db, month, what, losses, checkpoint, request);
  });
  await removeEvidence(db, month, what); // May take long. The next prune continues after an interruption.
  await dropDetached(db);
}

/**
 * Removes claims first: a claim without its call would block its key forever. The keys are past their
 * guaranteed age. Without bodies, hashes of contents and texts of keys must not stay either.
 */
async function removeClaims(
  db: Client,
  { from, to }: Month,
  what: PruningTarget,
  kept: string[],
): Promise<void> {
  const ofMonth: Condition = {
    sql: 'intent_id >= $1 AND intent_id < $2 AND intent_id <> ALL ($3::uuid[])',
    values: [from, to, kept],
  };
  const remove = (removal: string) => db.query(`${removal} WHERE ${ofMonth.sql}`, ofMonth.values);
  if (what === 'people') {
    await hashKeysOfClaims(db, ofMonth);
    await remove('UPDATE idempotency_claim SET salt = NULL, content_hash = NULL');
  } else {
    await remove('DELETE FROM idempotency_claim');
  }
  await remove('DELETE FROM recipient_payment');
}

/** Waits briefly for the table locks and retries, because other statements queue behind a waiting lock. */
async function withLock(db: Client, tables: readonly string[], work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await db.query('BEGIN');
    try {
      await db.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await lockIndex(db);
      await db.query(`LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`);
      await work();
      await db.query('COMMIT');
      return;
    } catch (error) {
      await db.query('ROLLBACK');
      if (codeOf(error) !== '55P03' || attempt === LOCK_ATTEMPTS) throw error;
      await sleep(LOCK_PAUSE_MS);
    }
  }
}

async function detachMonth(db: Client, table: PartitionedTable, month: Month, kept: string[]): Promise<void> {
  await moveFromDefault(db, table, month, kept);
  const partition = partitionOf(table, month);
  const { rows } = await db.query('SELECT WHERE to_regclass($1) IS NOT NULL', [partition]);
  if (rows.length === 0) return;
  await db.query(`ALTER TABLE ${table} DETACH PARTITION ${partition}`);
  const columns = await columnsOf(db, table);
  const values = `SELECT ${columns} FROM ${partition} WHERE ${idOf(table)} = ANY ($1::uuid[])`;
  await db.query(`INSERT INTO ${table} (${columns}) ${values}`, [kept]);
  await db.query(`ALTER TABLE ${partition} RENAME TO ${DETACHED}${partition}`);
}

/** Removes rows from the default partition: calls that an earlier pruning kept, and rows of old versions. */
async function moveFromDefault(
  db: Client,
  table: PartitionedTable,
  month: Month,
  kept: string[],
): Promise<void> {
  const [id, fallback, out] = [idOf(table), `${table}_default`, `${DETACHED}${table}_default`];
  const gone = [month.from, month.to, kept];
  const where = `${id} >= $1::uuid AND ${id} < $2::uuid AND ${id} <> ALL ($3::uuid[])`;
  const { rows } = await db.query(`SELECT FROM ${fallback} WHERE ${where} LIMIT 1`, gone);
  if (rows.length === 0) return;
  await db.query(`CREATE TABLE ${out} (${id} uuid)`);
  await db.query(`INSERT INTO ${out} SELECT ${id} FROM ${fallback} WHERE ${where}`, gone);
  // The trigger keeps the owner from deleting records. The table stays locked until the commit.
  const isRecord = ![...PEOPLE_TABLES, ...EVIDENCE_TABLES].some((other) => other === table);
  if (isRecord) await db.query(`ALTER TABLE ${fallback} DISABLE TRIGGER refuse_change`);
  await db.query(`DELETE FROM ${fallback} WHERE ${where}`, gone);
  if (isRecord) await db.query(`ALTER TABLE ${fallback} ENABLE TRIGGER refuse_change`);
}

async function columnsOf(db: Client, table: string): Promise<string> {
  const { rows } = await db.query<{ columns: string }>(
    `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns
     FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`,
    [table],
  );
  return rows[0]?.columns ?? '';
}

async function record(
  db: Client,
  { name }: Month,
  what: PruningTarget,
  { rows, leaves, kept }: Losses,
  checkpoint: string,
  { reason, actor, signer }: RemovalRequest,
): Promise<void> {
  const pruning: Pruning = {
    id: newId(),
    what,
    month: name,
    reason,
    actor,
    kept,
    rows,
    leaves,
    checkpoint,
    pruned_at: clock.now(),
  };
  const { id, pruned_at } = pruning;
  const signature = signRecord(signer, 'pruning', pruning);
  await db.query(
    `INSERT INTO pruning
       (id, what, month, reason, actor, kept, rows, leaves, checkpoint, pruned_at, signature)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [id, what, name, reason, actor, kept, rows, leaves, checkpoint, pruned_at, signature],
  );
}

/** Tables that feed the search index: calls, and their recipients and keys. */
const INDEXED = new RegExp(`^${DETACHED}(intent|refusal|intent_body|refusal_key)_(default|\\d{4}_\\d{2})$`);

/** Drops detached tables, including those of an interrupted prune. It blocks no other statements. */
export async function dropDetached(db: Client): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND starts_with(relname, $1)
     ORDER BY relname`,
    [DETACHED],
  );
  for (const { name } of rows) {
    const [, table] = INDEXED.exec(name) ?? [];
    if (table !== undefined) await reindexAll(db, name, idOf(table as PartitionedTable));
    await db.query(`DROP TABLE ${name}`);
  }
}

/** Entries to rebuild before unlocking the index. */
const REINDEX_BATCH = 5_000;

async function reindexAll(db: Client, table: string, id: string): Promise<void> {
  const { rows } = await db.query<{ id: string }>(`SELECT DISTINCT ${id} AS id FROM ${table}`);
  for (let from = 0; from < rows.length; from += REINDEX_BATCH) {
    await db.query('BEGIN');
    await lockIndex(db);
    await reindex(
      db,
      rows.slice(from, from + REINDEX_BATCH).map((row) => row.id),
    );
    await db.query('COMMIT');
  }
}
