import { v7 as uuidv7 } from 'uuid';
import { compare } from '../src/reconciliation/matching/compare';
import { connectForRun } from '../src/reconciliation/matching/connection';
import { Plan } from '../src/reconciliation/matching/plan';
import { Totals } from '../src/reconciliation/matching/totals';
import { Expected, plant, PLANTED_SETTINGS } from './support/planted';
import { createTestDatabase, TestDatabase } from './support/test-database';

const ITEMS = 3_000;
const FROM = new Date('2026-11-20T00:00:00Z');
const TO = new Date('2026-11-21T00:00:00Z');
const READ = uuidv7();

let database: TestDatabase;
let expected: Expected[];

beforeAll(async () => {
  database = await createTestDatabase();
  expected = await plant(database.ownerUrl, { items: ITEMS, from: FROM, to: TO, readId: READ });
});
afterAll(() => database.close());

const connect = () => connectForRun({ databaseUrl: database.url, databaseOwnerUrl: database.ownerUrl });

async function newRun(change: Partial<Plan> = {}): Promise<Plan> {
  const runId = uuidv7();
  const plan: Plan = {
    ...{ runId, from: FROM, to: TO, asOf: new Date(), readId: READ, walletsReadId: null },
    ...{ historical: false, source: 'upstream', settings: PLANTED_SETTINGS },
    ...change,
  };
  await database.query(
    `INSERT INTO reconciliation_run (id, from_at, to_at, as_of, historical, settings) VALUES ($1, $2, $3, $4, $5, '{}')`,
    [plan.runId, plan.from, plan.to, plan.asOf, plan.historical],
  );
  return plan;
}

async function run(change: Partial<Plan> = {}): Promise<{ plan: Plan; totals: Totals }> {
  const plan = await newRun(change);
  const db = await connect();
  try {
    return { plan, totals: await compare(db, plan) };
  } finally {
    await db.end();
  }
}

const seenBy = (runId: string) =>
  database.query<Expected>(
    `SELECT category, subject, trim_scale(impact_usd)::text AS impact FROM finding f JOIN finding_sight s ON s.finding_id = f.id
     WHERE s.run_id = $1`,
    [runId],
  );

const sorted = (rows: Expected[]) => rows.map((row) => `${row.category} ${row.subject} ${row.impact}`).sort();

describe('what is planted', () => {
  it('is found, each at its place with its impact, and nothing else', async () => {
    const { plan, totals } = await run();
    expect(sorted(await seenBy(plan.runId))).toEqual(sorted(expected));
    expect(totals.residual_usd).toBe('0');
    expect(totals.findings.count).toBe(expected.length);
    expect(new Set(expected.map(({ category }) => category)).size).toBe(10); // all but balance_gap
  });
});
