import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** Rows of the listing that are written at once. */
const FETCH = 20_000;

/**
 * Transactions as the upstream writes them (docs/reference/upstream.md, "Transaction record"). Some amounts
 * have the noise of floats.
 */
const LISTING = `
  SELECT json_strip_nulls(json_build_object('id', upstream_id, 'chiRef', upstream_ref, 'issueID', batch_ref,
    'issueDate', issued_at, 'issuer', 'planted',
    'type', type, 'status', status, 'valueInUSD', CASE WHEN kind = 30 THEN amount_usd + 0.0000000004
      ELSE amount_usd END,
    'credit', amount_usd * 1000, 'fee', fee_usd, 'email', email, 'phone', phone, 'phoneNumber', phone,
      'twitter', handle, 'receiver', receiver,
    'reference', reference, 'enabledToRedeem', '[]'::json, 'integration',
      json_build_object('appID', 'planted')))::text AS row
  FROM planted_theirs ORDER BY issued_at DESC, upstream_ref, upstream_id`;

/** Wallets as the upstream writes them (docs/reference/upstream.md, "Results by operation"). */
const WALLETS = `
  SELECT json_agg(json_build_object('id', wallet_id, 'type', type, 'balance', balance, 'owner', 'planted',
    'transactions', (
    SELECT json_agg(json_build_object('amount', amount, 'balanceBefore', balance_before, 'newBalance',
      new_balance, 'description', description,
      'meta', json_build_object('date', json_build_object('_seconds', extract(epoch FROM at)::bigint,
        '_nanoseconds', 0))) ORDER BY ordinal)
    FROM planted_entry e WHERE e.wallet_id = w.wallet_id)))::text AS wallets
  FROM planted_wallet w`;

/**
 * Fills a migrated database with payments and plants differences on them (planted/*.sql).
 * @param file for the upstream's listing.
 * @returns the number of the upstream's transactions, and its wallets. The expected findings are in the table
 * bench_expected.
 */
export async function plant(ownerUrl, { items, from, to, file }) {
  return write(ownerUrl, ['calls', 'theirs', 'wallets'], { items, from, to }, async (owner) => {
    await owner.query('CREATE TABLE bench_expected AS SELECT * FROM planted_expected');
    const theirs = await writeListing(owner, file);
    const { rows } = await owner.query('SELECT count(*)::int AS ours FROM planted_item');
    const { wallets } = (await owner.query(WALLETS)).rows[0];
    return { ours: rows[0].ours, theirs, wallets };
  });
}

/**
 * Fills a migrated database with calls in doubt whose payouts are equal (planted/equal.sql).
 * @param items the number of calls.
 * @param missing the number of those without a transaction.
 * @param file for the upstream's listing.
 * @returns the number of the upstream's transactions.
 */
export async function plantEqual(ownerUrl, { items, missing, file }) {
  return write(ownerUrl, ['equal'], { items, missing }, (owner) => writeListing(owner, file));
}

/** Runs files of planted/ with settings, then reads their temporary tables. */
async function write(ownerUrl, files, settings, read) {
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  try {
    await owner.query("SET synchronous_commit = off; SET work_mem = '128MB'; SET timezone = 'UTC'");
    for (const [name, value] of Object.entries(settings)) {
      await owner.query('SELECT set_config($1, $2, false)', [`planted.${name}`, String(value)]);
    }
    for (const file of files) {
      await owner.query(readFileSync(join(import.meta.dirname, 'planted', `${file}.sql`), 'utf8'));
    }
    const result = await read(owner);
    await owner.query('DISCARD TEMP');
    await owner.query('VACUUM ANALYZE');
    return result;
  } finally {
    await owner.end();
  }
}

async function writeListing(owner, file) {
  const out = createWriteStream(file);
  out.write('{"status":"success","data":[');
  await owner.query(`BEGIN; DECLARE listing CURSOR FOR ${LISTING}`);
  let written = 0;
  for (;;) {
    const { rows } = await owner.query(`FETCH ${FETCH} FROM listing`);
    if (rows.length === 0) break;
    const text = rows.map(({ row }) => row).join(',\n');
    if (!out.write(written === 0 ? text : `,\n${text}`)) await once(out, 'drain');
    written += rows.length;
  }
  await owner.query('COMMIT');
  out.end(']}');
  await once(out, 'finish');
  return written;
}

/** Compares the findings of a run with the planted differences. */
export async function check(owner, runId) {
  const { rows } = await owner.query(
    `WITH seen AS (
       SELECT category, subject, trim_scale(impact_usd) AS impact FROM finding f
         JOIN finding_sight s ON s.finding_id = f.id WHERE s.run_id = $1
     ), planted AS (SELECT category, subject, trim_scale(impact) AS impact FROM bench_expected)
     SELECT (SELECT count(*) FROM planted)::int AS planted, (SELECT count(*) FROM seen)::int AS found,
       (SELECT count(*) FROM (TABLE seen EXCEPT TABLE planted) AS x)::int AS invented,
       (SELECT count(*) FROM (TABLE planted EXCEPT TABLE seen) AS x)::int AS missed`,
    [runId],
  );
  return rows[0];
}
