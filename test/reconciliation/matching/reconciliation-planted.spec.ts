import { v7 as uuidv7 } from 'uuid';
import { connectForRun } from '../../../src/reconciliation/book/connection';
import { Plan } from '../../../src/reconciliation/book/plan';
import { compare } from '../../../src/reconciliation/matching/comparison';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { runPlan, startRun } from '../../support/reconciliation/comparison';
import { lines, findingsOf } from '../../support/reconciliation/observed-findings';
import { PlantedFinding, plant, PLANTED_SETTINGS } from '../../support/reconciliation/planted-findings';

const ITEMS = 2_010; // each of a thousand kinds twice, in calls of one to five
const FROM = new Date('2026-11-20T00:00:00Z');
const TO = new Date('2026-11-21T00:00:00Z');
/** Their digits can look like a phone number. */
const UUIDS = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const READ = uuidv7();
const WALLETS_READ = uuidv7();

let database: TestDatabase;
let expected: PlantedFinding[];

beforeAll(async () => {
  database = await createTestDatabase();
  expected = await plant(database.ownerUrl, {
    items: ITEMS,
    from: FROM,
    to: TO,
    readId: READ,
    walletsReadId: WALLETS_READ,
  });
});
afterAll(() => database.close());

const start = () =>
  startRun(database, {
    from: FROM,
    to: TO,
    asOf: new Date(),
    readId: READ,
    walletsReadId: WALLETS_READ,
    historical: false,
    source: 'upstream',
    settings: PLANTED_SETTINGS,
  });

/** Compares on a connection that announces each statement before sending it. @returns its end. */
async function compareTelling(
  plan: Plan,
  before: (statement: number, pid: number) => unknown,
): Promise<'ended' | 'died'> {
  const db = await connectForRun({ databaseUrl: database.url, databaseOwnerUrl: database.ownerUrl });
  const { rows } = await db.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  let statements = 0;
  const spied = new Proxy(db, {
    get: (target, name) =>
      name !== 'query'
        ? (Reflect.get(target, name) as unknown)
        : async (...parameters: [string, unknown[]]) => {
            await before(statements++, rows[0]?.pid ?? 0);
            return target.query(...parameters);
          },
  });
  const end = await compare(spied, plan).then(
    () => 'ended' as const,
    () => 'died' as const,
  );
  await db.end().catch(() => undefined);
  return end;
}

/** Cuts the run's connection before statement `at`. */
async function kill(plan: Plan, at: number): Promise<void> {
  const end = await compareTelling(plan, (statement, pid) =>
    statement === at ? database.query('SELECT pg_terminate_backend($1)', [pid]) : undefined,
  );
  expect(end).toBe('died');
}

/** Number of statements of a complete run. */
async function statementsOf(plan: Plan): Promise<number> {
  let statements = 0;
  await compareTelling(plan, () => (statements += 1));
  return statements;
}

const written = () =>
  database.query(
    `SELECT (SELECT count(*) FROM finding)::int AS findings,
      (SELECT count(*) FROM finding_sight)::int AS sights,
       (SELECT count(*) FROM reconciliation_match)::int AS matches,
         (SELECT count(*) FROM reconciliation_run_end)::int AS ends`,
  );

/** Data written by a run, without IDs and times. */
async function contentOf({ runId }: Plan): Promise<object> {
  return {
    sights: await database.query(
      `SELECT category, subject, call_id, position, upstream_ref, upstream_id, batch_ref, occurred_at,
        impact_usd, fields, evidence
       FROM finding f JOIN finding_sight s ON s.finding_id = f.id WHERE s.run_id = $1
         ORDER BY category, subject`,
      [runId],
    ),
    matches: await database.query(
      `SELECT call_id, position, read_id, ordinal, rule, certainty FROM reconciliation_match WHERE run_id = $1
        ORDER BY 1, 2`,
      [runId],
    ),
    end: await database.query(
      'SELECT result, read_id, totals FROM reconciliation_run_end WHERE run_id = $1',
      [runId],
    ),
  };
}

describe('planted differences', () => {
  let first: Plan;

  it('are found completely and exclusively after any number of kills, with a residual of zero', async () => {
    first = await start();
    // The last statements belong to the single writing transaction. Some earlier ones are cut, too.
    for (const at of [0, 4, 12, 30, 45, 60]) await kill(first, at);
    expect(await written()).toEqual([{ findings: 0, sights: 0, matches: 0, ends: 0 }]);
    const totals = await runPlan(database, first);
    expect(lines(await findingsOf(database, first.runId))).toEqual(lines(expected));
    expect(totals.residual_usd).toBe('0');
    expect(totals.findings.count).toBe(expected.length);
    expect(totals.in_doubt.count).toBeGreaterThan(0); // and causes no finding
    expect(new Set(expected.map(({ category }) => category)).size).toBe(15);
  });

  it('are reported without contacts', async () => {
    const told = await database.query<{ text: string }>(
      `SELECT row_to_json(f)::text || row_to_json(s)::text AS text FROM finding f
        JOIN finding_sight s ON s.finding_id = f.id`,
    );
    const texts = told.map(({ text }) => text.replace(UUIDS, ''));
    expect(texts.filter((text) => /(person|stranger|other)[._]\d|\+?2547\d{5}/i.test(text))).toEqual([]);
    const recipients = told.filter(({ text }) => text.includes('"field" : "recipient"'));
    expect(recipients.length).toBeGreaterThan(0);
    expect(recipients.every(({ text }) => text.includes('"theirs" : "o••@example.org"'))).toBe(true);
  });

  it('are found again by a second run, which adds no finding and no step', async () => {
    const second = await start();
    await runPlan(database, second);
    expect(await contentOf(second)).toEqual(await contentOf(first));
    expect(await database.query('SELECT count(*)::int AS findings FROM finding')).toEqual([
      { findings: expected.length },
    ]);
    expect(await database.query('SELECT * FROM finding_step')).toEqual([]);
  });

  it('are written completely or not at all, wherever the connection is lost', async () => {
    const before = await written();
    const statements = await statementsOf(await start());
    const third = await start();
    const begun = await written();
    // The very last statement cleans up after the commit.
    for (let fromEnd = 8; fromEnd >= 2; fromEnd -= 1) await kill(third, statements - fromEnd);
    expect(await written()).toEqual(begun);
    expect(begun).not.toEqual(before); // the counted run
    await runPlan(database, third);
    expect(await contentOf(third)).toEqual(await contentOf(first));
  });
});
