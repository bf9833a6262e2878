import { v7 as uuidv7 } from 'uuid';
import { IntentDocument } from '../../../src/journal/records/documents';
import { TestDatabase } from '../databases/test-database';
import { first } from '../examples/first';
import { insertIntents, insertOutcomes, insertSettlements, PartialRecord } from '../records/documents';

/** The records of a call that determine its state. */
export interface Combination {
  recorded_at: string;
  process: number;
  held: PartialRecord<IntentDocument>;
  decision: object | null;
  outcome: string | null;
  resolution: string | null;
  refused: boolean;
}

/** Adds a call for each combination, with the other columns of `model`. */
export async function insertCalls(
  database: TestDatabase,
  model: string,
  combinations: Combination[],
  client_id: string,
): Promise<void> {
  const { record } = first(
    await database.query<{ record: string }>('SELECT record FROM intent WHERE id = $1', [model]),
  );
  const document = JSON.parse(record) as IntentDocument;
  const calls = combinations.map((call) => ({ id: uuidv7(), ...call }));
  const by = { client_id, key_id: uuidv7(), reason: '' };
  const insert = (table: string, columns: string, rows: object[]) =>
    database.query(
      `INSERT INTO ${table} (${columns}) SELECT ${columns}
        FROM json_populate_recordset(NULL::${table}, $1::json)`,
      [JSON.stringify(rows)],
    );
  await insertIntents(
    database,
    calls.map(({ id, recorded_at, process, held }) => {
      return { ...document, id, client_id, recorded_at, process, ...held };
    }),
  );
  const decided = calls.flatMap(({ id, decision }) =>
    decision ? [{ intent_id: id, ...by, ...decision }] : [],
  );
  await insert('decision', 'intent_id, kind, reason, client_id, key_id, decided_at, process', decided);
  const ended = calls.flatMap(({ id, outcome }) =>
    outcome === null ? [] : [{ intent_id: id, kind: outcome }],
  );
  await insertOutcomes(database, ended);
  const settled = calls.flatMap(({ id, resolution }) =>
    resolution === null ? [] : [{ intent_id: id, resolution }],
  );
  await insertSettlements(database, settled);
  await database.query(
    `INSERT INTO refusal (id, client_id, key_id, operation, request_id, client_address, status, code, detail,
      faults,
       fault_count, received_at)
     SELECT id, client_id, client_id, operation, 'x', '::1', 503, 'x', 'x', '[]', 0, recorded_at
     FROM intent WHERE id = ANY($1::uuid[])`,
    [calls.filter(({ refused }) => refused).map(({ id }) => id)],
  );
}
