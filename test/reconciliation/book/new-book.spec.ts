import { Client, QueryConfig } from 'pg';
import { connectForRun } from '../../../src/reconciliation/book/connection';
import { enterReading } from '../../../src/reconciliation/book/sightings';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { Theirs, writeListing } from '../../support/reconciliation/comparison';

const ROWS = 1_000;

/** Maximum number of rows that a step processes for each transaction. All pairs are 1,000 for each. */
const MOST_ROWS = 20;

/** A step of an executed plan, as EXPLAIN states it. */
interface PlanStep {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: PlanStep[];
}

/** Rows that a step has compared, whether it kept them or not. */
const comparedBy = (step: PlanStep): number =>
  step['Actual Loops'] *
  (step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0) + (step['Rows Removed by Join Filter'] ?? 0));

const stepsOf = (step: PlanStep): PlanStep[] => [step, ...(step.Plans ?? []).flatMap(stepsOf)];

const PLANNED = /^\s*(CREATE TEMP TABLE \w+ AS|WITH|INSERT|UPDATE|DELETE)\b/;

/** Notes the executed plan of each statement. */
class ExplainedClient {
  readonly steps: PlanStep[] = [];

  constructor(private readonly db: Client) {}

  async query(statement: string | QueryConfig): Promise<unknown> {
    const { text, values = [] } = typeof statement === 'string' ? { text: statement } : statement;
    if (!PLANNED.test(text)) return this.db.query(text, values);
    const { rows } = await this.db.query<{ 'QUERY PLAN': [{ Plan: PlanStep }] }>(
      `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${text}`,
      values,
    );
    for (const row of rows) this.steps.push(...stepsOf(row['QUERY PLAN'][0].Plan));
    return { rows: [] };
  }
}

describe('a book without statistics', () => {
  let database: TestDatabase;
  let db: Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    await database.query('ALTER TABLE book_transaction SET (autovacuum_enabled = false)');
    db = await connectForRun({ databaseUrl: database.url, databaseOwnerUrl: database.ownerUrl });
  });
  afterAll(async () => {
    await db.end();
    await database.close();
  });

  /** Enters a reading. @returns its steps that compared too many rows, and the number of all steps. */
  const enter = async (status: string, names: 'upstream_ref' | 'upstream_id' | 'both') => {
    const theirs = Array.from({ length: ROWS }, (_, index): Theirs => ({
      ...(names !== 'upstream_id' && { upstream_ref: `ref-${index}` }),
      ...(names !== 'upstream_ref' && { upstream_id: `id-${index}` }),
      issued_at: '2026-11-30T00:00:00Z',
      type: 'airtime',
      status,
      amount_usd: '1',
      email: `${index}@example.com`,
    }));
    const explained = new ExplainedClient(db);
    await enterReading(explained as unknown as Client, 'main', await writeListing(database, theirs));
    expect(explained.steps.length).toBeGreaterThan(0);
    return explained.steps
      .filter((step) => comparedBy(step) > MOST_ROWS * ROWS)
      .map((step) => `${step['Node Type']} compared ${comparedBy(step)} rows`);
  };

  it.each([
    ['are new', 'pending', 'both'],
    ['have news', 'paid', 'both'],
    ['have news and a reference only', 'failed', 'upstream_ref'],
    ['have news and an ID only', 'paid', 'upstream_id'],
    ['are known', 'paid', 'both'],
  ] as const)('looks transactions up by name that %s', async (_, status, names) => {
    expect(await enter(status, names)).toEqual([]);
    const [book] = await database.query<object>(
      `SELECT reltuples, (SELECT count(*)::integer FROM book_transaction) AS rows FROM pg_class
       WHERE relname = 'book_transaction'`,
    );
    expect(book).toEqual({ reltuples: -1, rows: ROWS });
  });
});
