import { v7 as uuidv7 } from 'uuid';
import { first } from './first';
import { TestDatabase } from './test-database';

/** The records of a call, as far as they decide its state. */
export interface Combination {
  recorded_at: string;
  process: number | null;
  held: object;
  decision: object | null;
  outcome: string | null;
  resolution: string | null;
  refused: boolean;
}

/** Adds a call for each combination, with the columns of `model` for all else. */
export async function insertCalls(
  database: TestDatabase,
  model: string,
  combinations: Combination[],
  client_id: string,
): Promise<void> {
  const sql = "SELECT to_jsonb(intent) - 'tx' AS row FROM intent WHERE id = $1";
  const { row } = first(await database.query<{ row: object }>(sql, [model]));
  const calls = combinations.map((call) => ({ id: uuidv7(), ...call }));
  const by = { client_id, key_id: uuidv7(), reason: '' };
  const insert = (table: string, columns: string, rows: object[]) =>
    database.query(
      `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1::json)`,
      [JSON.stringify(rows)],
    );
  const of = (name: 'decision' | 'outcome' | 'resolution', toRow: (call: Combination) => object | null) =>
    calls.filter((call) => call[name]).map((call) => ({ intent_id: call.id, ...by, ...toRow(call) }));
  await insert(
    'intent',
    Object.keys(row).join(),
    calls.map(({ id, recorded_at, process, held }) => ({ ...row, id, client_id, recorded_at, process, ...held })),
  );
  const decided = of('decision', ({ decision }) => decision);
  await insert('decision', 'intent_id, kind, reason, client_id, key_id, decided_at, process', decided);
  const times = { sent_at: 'now', answered_at: 'now', upstream_ms: 1 };
  const ended = of('outcome', ({ outcome }) => ({ kind: outcome, ...times }));
  await insert('outcome', 'intent_id, kind, sent_at, answered_at, upstream_ms', ended);
  const settled = of('resolution', ({ resolution }) => ({ outcome: resolution }));
  await insert('resolution', 'intent_id, outcome, reason, client_id, key_id', settled);
  await database.query(
    `INSERT INTO refusal (id, client_id, key_id, operation, request_id, client_address, status, code, detail, faults,
       fault_count, received_at)
     SELECT id, client_id, key_id, operation, request_id, client_address, 503, 'x', 'x', '[]', 0, received_at
     FROM intent WHERE id = ANY($1::uuid[])`,
    [calls.filter(({ refused }) => refused).map(({ id }) => id)],
  );
}
