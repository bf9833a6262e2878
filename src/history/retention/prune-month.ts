import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { Pruning, signRecord } from '../log/signed-records';
import { Wish } from './erase';
import { evidenceOf, removeEvidence } from './evidence';
import { CALL_TABLES, EVIDENCE_TABLES, idOf, Month, PartitionedTable, partitionOf, PEOPLE_TABLES } from './months';
import { openCalls } from '../../operations/lifecycle-sql';
import { lockIndex, reindex } from './reindex';

export type What = Pruning['what'];

/** What a month has to lose. */
export interface Losses {
  /** Calls that go, or lose their bodies and recipients. */
  rows: number;
  /** Records of them that have a leaf, and go. */
  leaves: number;
  /** Rows of what sources said that go, or lose whom they name. */
  evidence: number;
  /** Ids of those that stay: they are not over. */
  kept: string[];
}

/** Whoever writes or reads records waits behind us for no longer, and no deadlock lasts long enough to be noticed. */
const LOCK_TIMEOUT_MS = 800;
const LOCK_ATTEMPTS = 60;
const LOCK_PAUSE_MS = 1_000;

/** Of a table that is taken out of the records, until it is dropped. */
const OUT = 'pruned_';

/** The tables of which whole partitions go. */
export function tablesOf(what: What): readonly PartitionedTable[] {
  return what === 'people' ? PEOPLE_TABLES : [...CALL_TABLES, ...EVIDENCE_TABLES];
}

/** The tables by which it is known which months there are. */
export function monthsIn(what: What): readonly PartitionedTable[] {
  return what === 'people' ? [...PEOPLE_TABLES, 'upstream_transaction'] : tablesOf(what);
}

export async function lossesOf(db: Client, month: Month, what: What): Promise<Losses> {
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
 * Takes a month out of the tables, all at once, with the record that says so. Calls that are not over move to the default
 * partition, with all that is theirs.
 * @param checkpoint the note that covers the month.
 */
export async function pruneMonth(
  db: Client,
  month: Month,
  what: What,
  losses: Losses,
  checkpoint: string,
  wish: Wish,
): Promise<void> {
  await removeClaims(db, month, what, losses.kept);
  await withLock(db, tablesOf(what), async () => {
    for (const table of tablesOf(what)) await takeOut(db, table, month, losses.kept);
    await record(db, month, what, losses, checkpoint, wish);
  });
  await removeEvidence(db, month, what); // may take long; what a prune that was cut off leaves of it, the next one takes
  await dropWhatIsOut(db);
}

/**
 * Before anything else: a claim without its call would refuse its key for ever. The keys were kept for as long as they are
 * promised to be; of bodies that go, no hash may stay that a guess could be compared with.
 */
async function removeClaims(db: Client, { from, to }: Month, what: What, kept: string[]): Promise<void> {
  const change =
    what === 'people'
      ? 'UPDATE idempotency_claim SET salt = NULL, content_hash = NULL'
      : 'DELETE FROM idempotency_claim';
  await db.query(`${change} WHERE intent_id >= $1 AND intent_id < $2 AND intent_id <> ALL ($3::uuid[])`, [
    from,
    to,
    kept,
  ]);
}

/** Waits for the tables for a moment only, and tries again: who waits for such a lock keeps all others waiting. */
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
      if ((error as { code?: string }).code !== '55P03' || attempt === LOCK_ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, LOCK_PAUSE_MS));
    }
  }
}

async function takeOut(db: Client, table: PartitionedTable, month: Month, kept: string[]): Promise<void> {
  await takeOutOfDefault(db, table, month, kept);
  const partition = partitionOf(table, month);
  const { rows } = await db.query('SELECT WHERE to_regclass($1) IS NOT NULL', [partition]);
  if (rows.length === 0) return;
  await db.query(`ALTER TABLE ${table} DETACH PARTITION ${partition}`);
  const columns = await columnsOf(db, table);
  await db.query(
    `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM ${partition} WHERE ${idOf(table)} = ANY ($1::uuid[])`,
    [kept],
  );
  await db.query(`ALTER TABLE ${partition} RENAME TO ${OUT}${partition}`);
}

/** Where calls stand that were kept when their month went, and those from before the proxy made partitions. */
async function takeOutOfDefault(db: Client, table: PartitionedTable, month: Month, kept: string[]): Promise<void> {
  const [id, fallback, out] = [idOf(table), `${table}_default`, `${OUT}${table}_default`];
  const gone = [month.from, month.to, kept];
  const where = `${id} >= $1::uuid AND ${id} < $2::uuid AND ${id} <> ALL ($3::uuid[])`;
  const { rows } = await db.query(`SELECT FROM ${fallback} WHERE ${where} LIMIT 1`, gone);
  if (rows.length === 0) return;
  await db.query(`CREATE TABLE ${out} (${id} uuid)`);
  await db.query(`INSERT INTO ${out} SELECT ${id} FROM ${fallback} WHERE ${where}`, gone);
  // Records refuse to be deleted by their owner too. Nobody else can come in between: the table is locked until the commit.
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
  what: What,
  { rows, leaves, kept }: Losses,
  checkpoint: string,
  { reason, actor, signer }: Wish,
): Promise<void> {
  const pruning: Pruning = {
    id: uuidv7(),
    what,
    month: name,
    reason,
    actor,
    kept,
    rows,
    leaves,
    checkpoint,
    pruned_at: new Date(),
  };
  await db.query(
    `INSERT INTO pruning (id, what, month, reason, actor, kept, rows, leaves, checkpoint, pruned_at, signature)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      pruning.id,
      what,
      name,
      reason,
      actor,
      kept,
      rows,
      leaves,
      checkpoint,
      pruning.pruned_at,
      signRecord(signer, 'pruning', pruning),
    ],
  );
}

/** Tables by which the search's index is made anew: the calls, and the recipients that it finds them by. */
const INDEXED = new RegExp(`^${OUT}(intent|refusal|item_recipient)_(default|\\d{4}_\\d{2})$`);

/** Drops what is out of the records, also what a prune that was cut off has left; nobody waits for that. */
export async function dropWhatIsOut(db: Client): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND starts_with(relname, $1) ORDER BY relname`,
    [OUT],
  );
  for (const { name } of rows) {
    if (INDEXED.test(name)) await reindexAll(db, name, /item_recipient/.test(name) ? 'intent_id' : 'id');
    await db.query(`DROP TABLE ${name}`);
  }
}

/** As many as are made anew before others may write to the index again. */
const AT_ONCE = 5_000;

async function reindexAll(db: Client, table: string, id: string): Promise<void> {
  const { rows } = await db.query<{ id: string }>(`SELECT DISTINCT ${id} AS id FROM ${table}`);
  for (let from = 0; from < rows.length; from += AT_ONCE) {
    await db.query('BEGIN');
    await lockIndex(db);
    await reindex(
      db,
      rows.slice(from, from + AT_ONCE).map((row) => row.id),
    );
    await db.query('COMMIT');
  }
}
