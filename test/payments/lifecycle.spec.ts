import {
  CallState,
  CALL_STATES,
  EXECUTED,
  OPEN,
  Present,
  recordedState,
  stateAt,
} from '../../src/operations/lifecycle/lifecycle';
import { FIRST_CALL_STATES } from '../../src/platform/errors/problem';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { product } from '../support/examples/combinations';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const around = (instant: Date) => [-1, 0, 1].map((ms) => new Date(instant.getTime() + ms));
const GIVEN_UP_BEFORE = new Date('2026-11-21T11:59:00.000Z');
const AT: Present = { now: NOW, live: [7], givenUpBefore: GIVEN_UP_BEFORE };

/** Compares src/operations/lifecycle/lifecycle.ts with its two functions in SQL. */
describe('the lifecycle of a call', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.close());

  const facts = product({
    outcome: [null, 'succeeded', 'rejected', 'not_sent', 'unknown'],
    refused: [false, true],
    resolution: [null, 'confirmed', 'not_executed'],
    held: [false, true],
    queued: [false, true],
    decision: [null, 'approved', 'rejected', 'released'],
  });

  it('derives the same recorded state in TypeScript and in SQL for every combination of facts', async () => {
    const inSql = await states(
      'recorded_state(outcome, refused, resolution, held, queued, decision)',
      'outcome text, refused boolean, resolution text, held boolean, queued boolean, decision text',
      facts,
    );
    expect(facts).toHaveLength(480);
    expect(inSql).toEqual(facts.map((one) => recordedState(one)));
  });

  it('derives the same state at every instant in TypeScript and in SQL', async () => {
    const cases = product({
      state: [...new Set(facts.map((one) => recordedState(one)))],
      expiresAt: [null, ...around(NOW)],
      process: [null, 7, 8],
      releasedAt: around(GIVEN_UP_BEFORE),
    });
    const inSql = await states(
      `state_at(state, "expiresAt", process, "releasedAt", $2, ARRAY[7], $3)`,
      'state text, "expiresAt" timestamptz, process integer, "releasedAt" timestamptz',
      cases,
      [NOW, GIVEN_UP_BEFORE],
    );
    expect(inSql).toEqual(cases.map(({ state, ...timing }) => stateAt(state, timing, AT)));
    expect([...new Set(inSql)].sort()).toEqual([...CALL_STATES].sort());
  });

  it('distinguishes only open and executed calls when a call is repeated', () => {
    expect([...FIRST_CALL_STATES].sort()).toEqual([...OPEN, ...EXECUTED].sort());
  });

  async function states(
    sql: string,
    columns: string,
    rows: object[],
    more: unknown[] = [],
  ): Promise<CallState[]> {
    const numbered = rows.map((row, number) => ({ number, ...row }));
    const found = await database.query(
      `SELECT ${sql} AS state FROM json_to_recordset($1::json) AS row (number integer, ${columns})
        ORDER BY number`,
      [JSON.stringify(numbered), ...more],
    );
    return found.map(({ state }) => state as CallState);
  }
});
