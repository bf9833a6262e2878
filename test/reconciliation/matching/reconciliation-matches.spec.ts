import { v7 as uuidv7 } from 'uuid';
import { makeCalls } from '../../../src/reconciliation/book/ours';
import { MAKE_COMPARED_OPERATIONS, Plan } from '../../../src/reconciliation/book/plan';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import {
  Ours,
  runPlan,
  startRun,
  Theirs,
  writeOurs,
  writeTheirs,
} from '../../support/reconciliation/comparison';
import { lines, findingsOf } from '../../support/reconciliation/observed-findings';
import { PLANTED_SETTINGS } from '../../support/reconciliation/planted-findings';
import { insertSettlements } from '../../support/records/documents';

const DAY_MS = 86_400_000;

let database: TestDatabase;
let day = Date.parse('2026-11-01T00:00:00Z');

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(() => (day += 4 * DAY_MS)); // a separate period for each
afterAll(() => database.close());

/** An instant relative to the compared day. */
const at = (hours: number, seconds = 0) => new Date(day + hours * 3_600_000 + seconds * 1_000).toISOString();
const callAt = (hours: number) => uuidv7({ msecs: day + hours * 3_600_000 });

function ours(hours: number, more: Partial<Ours> = {}): Ours {
  const call_id = callAt(hours);
  const usual = { operation: 'POST /payouts/credit', kind: 'succeeded', usd: '10' } as const;
  return { call_id, at: at(hours), ...usual, email: `${call_id}@example.com`, ...more };
}

function theirs(hours: number, more: Partial<Theirs> = {}): Theirs {
  return { issued_at: at(hours, 5), type: 'credit', status: 'paid', amount_usd: '10', ...more };
}

async function plan(readId: string, more: Partial<Plan> = {}): Promise<Plan> {
  return startRun(database, {
    from: new Date(day),
    to: new Date(day + DAY_MS),
    asOf: new Date(day + 3 * DAY_MS),
    readId,
    walletsReadId: null,
    historical: false,
    source: 'upstream',
    settings: { ...PLANTED_SETTINGS, feePercent: '0' },
    ...more,
  });
}

async function compared(mine: Ours[], others: Theirs[], more: Partial<Plan> = {}) {
  await writeOurs(database, mine);
  const run = await plan(await writeTheirs(database, others), more);
  const totals = await runPlan(database, run);
  expect(totals.residual_usd).toBe('0');
  return { totals, found: lines(await findingsOf(database, run.runId)), matches: await matchesOf(run) };
}

async function matchesOf({ runId }: Plan): Promise<string[]> {
  const sql = `SELECT position || ' ' || ordinal || ' ' || rule || ' ' || certainty AS line
    FROM reconciliation_match WHERE run_id = $1 ORDER BY call_id, position`;
  return (await database.query<{ line: string }>(sql, [runId])).map(({ line }) => line);
}

describe('the reader of our records', () => {
  it('omits months outside of the period', async () => {
    // with partitions created in advance
    const month = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1, 10));
    const period = { from: month, to: new Date(month.getTime() + DAY_MS) };
    const run = await plan(await writeTheirs(database, []), period);
    for (const { text, values } of MAKE_COMPARED_OPERATIONS) await database.query(text, values);
    const { text, values } = makeCalls(run);
    const rows = await database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values);
    const lines = rows.map((row) => row['QUERY PLAN']);
    const named = month.toISOString().slice(0, 7).replace('-', '_');
    const partition = /Scan .*on (?:intent|outcome)_(\d{4}_\d{2})/;
    const scanned = lines.flatMap((line) => partition.exec(line)?.[1] ?? []);
    const decided = lines.findIndex((line) => line.includes('decision')); // they may belong to any month
    expect(decided).toBeGreaterThan(0);
    expect(scanned.length).toBeGreaterThan(1);
    expect(scanned.slice(0, 2)).toEqual([named, named]);
  });
});

describe('matching', () => {
  it('matches within a batch by recipient and amount, never by the batch alone', async () => {
    const call = ours(1, { batch_ref: `i-${day}` });
    const emailOf = (name: string) => ({ email: `${name}@example.com` });
    const items = ['a', 'b', 'c', 'c'].map((name, position) => ({ ...call, position, ...emailOf(name) }));
    const listed = ['c', 'a', 'c', 'x'].map((name) => theirs(1, { batch_ref: `i-${day}`, ...emailOf(name) }));
    const { matches, found } = await compared(items, listed);
    // The two equal ones are interchangeable. The one left on each side has another recipient.
    expect(matches).toEqual(['0 1 batch_ref certain', '2 0 batch_ref certain', '3 2 batch_ref certain']);
    expect(found).toEqual([
      expect.stringMatching(/^missing_local listing\//),
      `missing_upstream call/${call.call_id}/1 -10`,
    ]);
  });

  it('uses a reference that is unique on each side, and other fields for a repeated one', async () => {
    const one = ours(1, { reference: `only-${day}`, email: 'one@example.com' });
    const two = ours(2, { reference: 'payroll', email: 'two@example.com' });
    const three = ours(3, { reference: 'payroll', email: 'three@example.com', usd: '20' });
    const stranger = { email: 'stranger@example.com', amount_usd: '99' };
    const { matches, found } = await compared(
      [one, two, three],
      [
        theirs(1, { reference: `only-${day}`, email: 'changed@example.com' }),
        theirs(3, { reference: 'payroll', email: 'three@example.com', amount_usd: '21' }),
        theirs(2, { reference: 'payroll', email: 'two@example.com' }),
        theirs(4, { ...stranger, reference: 'payroll', upstream_ref: `stranger-${day}` }),
      ],
    );
    expect(matches).toEqual(['0 2 fingerprint certain', '0 1 reference probable']);
    expect(found).toEqual([
      `amount_over call/${three.call_id}/0 1`,
      expect.stringMatching(/^missing_local listing\//), // a reference does not outweigh the recipient
      `missing_local upstream_ref/stranger-${day} 99`,
      `missing_upstream call/${one.call_id}/0 -10`,
    ]);
  });

  it('matches a payment that was executed or requested long before or after', async () => {
    const long = ours(23, { upstream_ref: `long-${day}` }); // executed a day later
    const before = ours(-30, { upstream_ref: `before-${day}`, kind: 'succeeded' }); // of another period
    const { found, totals } = await compared(
      [long, before],
      [theirs(47, { upstream_ref: `long-${day}` }), theirs(2, { upstream_ref: `before-${day}` })],
    );
    expect(found).toEqual([`late call/${long.call_id}/0 0`]);
    expect(totals.matched.count).toBe(1);
  });

  it('asks the upstream by name before it reports a payment as missing', async () => {
    const listed = ours(1, { upstream_ref: `listed-${day}` });
    const lacked = ours(2, { upstream_ref: `lacked-${day}`, upstream_id: `id-${day}` });
    const gone = ours(3, { upstream_ref: `gone-${day}`, upstream_id: `none-${day}` });
    await writeOurs(database, [listed, lacked, gone]);
    const run = await plan(await writeTheirs(database, [theirs(1, { upstream_ref: `listed-${day}` })]));
    const lookups: object[] = [];
    const found = theirs(2, { upstream_ref: `lacked-${day}`, upstream_id: `id-${day}` });
    const totals = await runPlan(database, run, async (names) => {
      lookups.push(...names);
      return [await writeTheirs(database, [found], 'transaction')];
    });
    expect(lookups).toEqual([
      { source: 'transaction', subject: `id-${day}` },
      { source: 'transaction', subject: `none-${day}` },
    ]);
    expect(lines(await findingsOf(database, run.runId))).toEqual([
      `missing_upstream call/${gone.call_id}/0 -10`,
    ]);
    expect([totals.residual_usd, totals.matched.count, totals.unlisted]).toEqual(['0', 2, 1]);
    const sql = `SELECT read_id IS NULL AS listed
      FROM reconciliation_match WHERE run_id = $1 ORDER BY call_id`;
    expect(await database.query(sql, [run.runId])).toEqual([{ listed: true }, { listed: false }]);
  });

  it("reads our records as of the run's time", async () => {
    const doubt = ours(1, { kind: 'unknown', resolution: 'confirmed' });
    await writeOurs(database, [{ ...doubt, resolution: null }]);
    const intent_id = doubt.call_id;
    await insertSettlements(database, [{ intent_id, resolution: 'confirmed', recorded_at: at(30) }]);
    const readId = await writeTheirs(database, []);
    const then = await plan(readId, { asOf: new Date(at(29)), historical: true });
    expect((await runPlan(database, then)).in_doubt).toEqual({ count: 1, usd: '10' });
    expect(await findingsOf(database, then.runId)).toEqual([]);
    const now = await plan(readId, { asOf: new Date(at(31)) });
    await runPlan(database, now);
    expect(lines(await findingsOf(database, now.runId))).toEqual([
      `missing_upstream call/${doubt.call_id}/0 -10`,
    ]);
    await insertSettlements(database, [{ intent_id, number: 2, recorded_at: at(40) }]);
    const before = await plan(readId, { asOf: new Date(at(39)), historical: true });
    await runPlan(database, before);
    expect(lines(await findingsOf(database, before.runId))).toEqual([
      `missing_upstream call/${doubt.call_id}/0 -10`,
    ]);
    const corrected = await plan(readId, { asOf: new Date(at(41)), historical: true });
    await runPlan(database, corrected);
    expect(await findingsOf(database, corrected.runId)).toEqual([]);
  });

  it('leaves payment links to their payers, and does not count incoming money', async () => {
    const link = ours(1, { operation: 'POST /send', upstream_ref: `link-${day}` });
    const unpaid = ours(2, { operation: 'POST /payouts/initiate-credit', upstream_ref: `unpaid-${day}` });
    const collect = { operation: 'POST /collections/mobile-money/collect', usd: null };
    const collection = ours(3, { ...collect, reference: `tx-${day}` });
    const { found, totals } = await compared(
      [link, unpaid, collection],
      [
        theirs(1, { upstream_ref: `link-${day}` }),
        theirs(2, { upstream_ref: `unpaid-${day}`, status: 'unpaid' }),
        theirs(3, { reference: `tx-${day}`, type: 'payment', amount_usd: '70' }),
        // another caller collects with our key
        theirs(4, { upstream_ref: `incoming-${day}`, type: 'payment', amount_usd: '80' }),
      ],
    );
    expect(found).toEqual([`missing_local upstream_ref/incoming-${day} 0`]);
    expect([totals.ours.usd, totals.theirs.usd, totals.matched.count]).toEqual(['10', '10', 3]);
  });

  it('hashes an identifier that may be a contact', async () => {
    const refs = ['254700000001', `ann.${day}@example.com`, '+254 700', `fine_${day}`];
    const { found } = await compared(
      [],
      refs.map((upstream_ref) => theirs(1, { upstream_ref })),
    );
    const hashed = /^missing_local upstream_ref\/sha256-[0-9a-f]{16} 10$/;
    expect(found.filter((line) => hashed.test(line))).toHaveLength(3);
    expect(found).toContain(`missing_local upstream_ref/fine_${day} 10`);
  });

  it('identifies a statement line by the content of its file, and compares no fees without any', async () => {
    await writeOurs(database, [ours(1, { reference: `line-${day}` })]);
    const known = theirs(1, { reference: `line-${day}`, status: null });
    const unknown = theirs(2, { status: null, amount_usd: '3' });
    const readId = await writeTheirs(database, [known, unknown], 'statement');
    const settings = { ...PLANTED_SETTINGS, feePercent: '5' };
    const run = await plan(readId, { source: 'statement', settings });
    const totals = await runPlan(database, run);
    const [{ name } = {}] = await database.query<{ name: string }>(
      `SELECT left(encode(sha256, 'hex'), 16) AS name FROM source_read_end WHERE read_id = $1`,
      [readId],
    );
    expect(lines(await findingsOf(database, run.runId))).toEqual([`missing_local statement/${name}/1 3`]);
    expect(totals.residual_usd).toBe('0');
  });
});
