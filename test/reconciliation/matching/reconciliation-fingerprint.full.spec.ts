import fc from 'fast-check';
import { Client } from 'pg';
import { MAKE_SHOWS_ID, matchAlike, matchSimilar } from '../../../src/reconciliation/book/fingerprint';
import { MAKE_COMPARED_OPERATIONS } from '../../../src/reconciliation/book/plan';
import { MAKE_PAIRS } from '../../../src/reconciliation/book/rules';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { mostPairs } from '../../support/examples/most-pairs';
import { PLANTED_SETTINGS } from '../../support/reconciliation/planted-findings';

const OPERATION = 'POST /payouts/airtime';
const WINDOW = { before: 60, after: 200 };
const SETTINGS = { ...PLANTED_SETTINGS, timeToleranceSeconds: WINDOW.after };

/** Seconds of transactions with one recipient and amount. */
interface Group {
  ours: number[];
  theirs: number[];
}

interface Pair {
  key: string;
  o_at: number;
  t_at: number;
  certainty: string;
}

let database: TestDatabase;
let db: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  db = new Client({ connectionString: database.url });
  await db.connect();
});
afterAll(async () => {
  await db.end();
  await database.close();
});

/** @param amounts in US dollars, of all our calls and all their transactions. */
async function match(
  groups: Group[],
  amounts = { ours: '1', theirs: '1' },
  settings = SETTINGS,
): Promise<Pair[]> {
  const rows = (side: 'ours' | 'theirs') =>
    JSON.stringify(groups.flatMap((group, key) => group[side].map((at) => ({ key: `e:${key}`, at }))));
  await db.query('DISCARD TEMP');
  await db.query(MAKE_PAIRS);
  await db.query(`
    CREATE TEMP TABLE unmatched_ours (
      n integer, call_id uuid, position integer, at timestamptz, key text, usd numeric(20,6), tier integer,
      operation text, kind text, reference text);
    CREATE TEMP TABLE unmatched_theirs (
      n bigint, at timestamptz, key text, kind text, type text, unpaid boolean, usd numeric(20,6),
      reference text);
    CREATE TEMP TABLE ours (LIKE unmatched_ours); CREATE TEMP TABLE theirs (LIKE unmatched_theirs);
    CREATE TEMP TABLE answered (n bigint, call_id uuid, surplus boolean)`);
  const read = `row_number() OVER () AS n, to_timestamp(at) AS at, key
    FROM json_to_recordset($1) AS r(key text, at float8)`;
  await db.query(
    `INSERT INTO unmatched_ours
     SELECT n, uuid_floor(at), n, at, key, $2::numeric, 1, '${OPERATION}',
       'airtime' FROM (SELECT ${read}) AS r`,
    [rows('ours'), amounts.ours],
  );
  await db.query(
    `INSERT INTO unmatched_theirs
     SELECT n, at, key, NULL, 'airtime', FALSE, $2::numeric FROM (SELECT ${read}) AS r`,
    [rows('theirs'), amounts.theirs],
  );
  await db.query(
    'CREATE TEMP TABLE all_ours AS SELECT * FROM unmatched_ours; CREATE TEMP TABLE all_theirs AS SELECT * ' +
      'FROM unmatched_theirs',
  );
  for (const statement of [...MAKE_COMPARED_OPERATIONS, MAKE_SHOWS_ID]) await db.query(statement);
  await matchAlike(db, settings);
  await matchSimilar(db, settings);
  const pairs = await db.query<Pair & { t_key: string }>(
    `SELECT o.key, t.key AS t_key, extract(epoch FROM o.at)::float8 AS o_at,
      extract(epoch FROM t.at)::float8 AS t_at, certainty
     FROM pair JOIN all_ours o ON o.n = pair.o JOIN all_theirs t ON t.n = pair.t`,
  );
  const used = await db.query<{ ours: number; theirs: number }>(
    'SELECT count(DISTINCT o)::float8 AS ours, count(DISTINCT t)::float8 AS theirs FROM pair',
  );
  expect(used.rows[0]).toEqual({ ours: pairs.rows.length, theirs: pairs.rows.length }); // one to one
  expect(pairs.rows.filter(({ key, t_key }) => key !== t_key)).toEqual([]);
  return pairs.rows;
}

const fits = (o: number, t: number) => t >= o - WINDOW.before && t <= o + WINDOW.after;

describe('matching by fingerprint', () => {
  it('matches as many as possible, one to one, each within its window', async () => {
    const times = fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 10 });
    const groups = fc.array(fc.record({ ours: times, theirs: times }), { minLength: 40, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(groups, async (drawn) => {
        const pairs = await match(drawn);
        expect(pairs.filter(({ o_at, t_at }) => !fits(o_at, t_at))).toEqual([]);
        for (const [key, group] of drawn.entries()) {
          expect(pairs.filter((pair) => pair.key === `e:${key}`)).toHaveLength(
            mostPairs(group.ours, group.theirs, fits),
          );
        }
      }),
      { numRuns: 12 },
    );
  });

  it('states the certainty: probable for a single candidate, possible for interchangeable ones', async () => {
    const pairs = await match([
      { ours: [0], theirs: [10] },
      { ours: [0, 5], theirs: [10, 12] },
      { ours: [0, 500], theirs: [1, 501] },
    ]);
    expect(pairs.map(({ key, certainty }) => `${key} ${certainty}`).sort()).toEqual([
      'e:0 probable',
      'e:1 possible',
      'e:1 possible',
      'e:2 probable',
      'e:2 probable',
    ]);
  });

  it('treats amounts as equal only within the tolerance', async () => {
    const group = [{ ours: [0], theirs: [10] }];
    const tolerant = { ...SETTINGS, amountToleranceUsd: '0.01' };
    expect(await match(group, { ours: '1', theirs: '1.01' })).toHaveLength(0);
    expect(await match(group, { ours: '1', theirs: '1.01' }, tolerant)).toHaveLength(1);
    expect(await match(group, { ours: '1', theirs: '1.010001' }, tolerant)).toHaveLength(0);
  });
});
