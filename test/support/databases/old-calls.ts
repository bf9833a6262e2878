import { v7 as uuidv7 } from 'uuid';
import { insertIntent, insertOutcomes } from '../records/documents';
import { TestDatabase } from './test-database';

/** Writes a call of that day with all its possible rows. */
export async function callOf(
  database: TestDatabase,
  day: string,
  outcome: 'succeeded' | 'unknown' | null = 'succeeded',
): Promise<string> {
  const msecs = new Date(day).getTime();
  const id = uuidv7({ msecs });
  const recorded_at = new Date(msecs).toISOString();
  await insertIntent(
    database,
    { id, recorded_at, items: [{}] },
    { body: '{}', people: [{ position: 0, email: 'ada@example.com' }] },
  );
  await database.query(`INSERT INTO idempotency_claim VALUES ($1, 'POST /send', 'k', $1, 's', 'h')`, [id]);
  if (outcome === null) return id;
  await insertOutcomes(database, [{ intent_id: id, kind: outcome, recorded_at, items: [{}] }]);
  await database.query(`INSERT INTO outcome_body VALUES ($1, 's', '{}')`, [id]);
  return id;
}

/** Writes a refused request of that day. */
export async function refusalOf(database: TestDatabase, day: string): Promise<string> {
  const id = uuidv7({ msecs: new Date(day).getTime() });
  await database.query(
    `INSERT INTO refusal (id, client_id, key_id, operation, request_id, client_address, status, code, detail,
      faults,
       fault_count, received_at) VALUES ($1, $1, $1, 'x', 'r', '::1', 400, 'x', 'x', '[]', 0, now())`,
    [id],
  );
  return id;
}

/** Tables of sources' readings, by the column with their ID. */
export const EVIDENCE_TABLES = {
  upstream_transaction: 'read_id',
  reconciliation_match: 'run_id',
  upstream_wallet: 'read_id',
  upstream_wallet_entry: 'read_id',
  statement_fault: 'read_id',
};

/** Writes readings of that day with three transactions. The first two name people. */
export async function evidenceOf(database: TestDatabase, day: string): Promise<string> {
  const id = uuidv7({ msecs: new Date(day).getTime() });
  await database.query(
    `INSERT INTO upstream_transaction (read_id, ordinal, upstream_ref, phone, reference) VALUES
       ($1, 0, 'c', '+254712345678', 'a'),
       ($1, 1, 'd', NULL, 'for ada@example.com'),
       ($1, 2, 'e', NULL, 'b')`,
    [id],
  );
  for (const row of [
    'reconciliation_match (run_id, call_id, position, read_id, ordinal, rule, certainty) VALUES ($1, ' +
      `$1, 0, $1, 0, 'upstream_id', 'certain')`,
    `upstream_wallet VALUES ($1, 'w')`,
    `upstream_wallet_entry VALUES ($1, 'w', 0)`,
    `statement_fault VALUES ($1, 2, 'x')`,
  ])
    await database.query(`INSERT INTO ${row}`, [id]);
  return id;
}
