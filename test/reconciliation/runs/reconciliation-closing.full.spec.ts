import { v7 as uuidv7 } from 'uuid';
import { Plan } from '../../../src/reconciliation/book/plan';
import { TotalsRecord } from '../../../src/reconciliation/matching/totals.dto';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { runPlan, startRun, Theirs, writeOurs, writeTheirs } from '../../support/reconciliation/comparison';
import { lines, findingsOf } from '../../support/reconciliation/observed-findings';
import { PLANTED_SETTINGS } from '../../support/reconciliation/planted-findings';

const DAY_MS = 86_400_000;

let database: TestDatabase;
let day = Date.parse('2026-11-01T00:00:00Z');
let upstream_ref: string;
let asOf: number;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

/** A payment of 10 USD on a separate day. */
beforeEach(async () => {
  day += 2 * DAY_MS;
  asOf = day + DAY_MS;
  upstream_ref = uuidv7();
  const call_id = uuidv7({ msecs: day + 1_000 });
  const at = new Date(day + 1_000).toISOString();
  const payment = { operation: 'POST /payouts/credit', kind: 'succeeded', usd: '10' } as const;
  await writeOurs(database, [{ call_id, at, ...payment, email: 'a@example.com', upstream_ref }]);
});

/**
 * Compares with a listing of this amount, or of no transaction for null.
 * @returns the finding's later states.
 */
async function observe(usd: string | null, change: Partial<Plan> = {}): Promise<string[]> {
  await runPlan(database, await planned(usd, change));
  return states();
}

async function planned(usd: string | null, change: Partial<Plan> = {}): Promise<Plan> {
  const issued_at = new Date(day + 2_000).toISOString();
  const listed: Theirs[] = usd === null ? [] : [{ upstream_ref, issued_at, status: 'paid', amount_usd: usd }];
  const source = change.source === 'statement' ? 'statement' : 'transactions';
  asOf += 1_000;
  return startRun(database, {
    from: new Date(day),
    to: new Date(day + DAY_MS),
    asOf: new Date(asOf),
    historical: false,
    source: 'upstream',
    readId: await writeTheirs(database, listed, source),
    walletsReadId: null,
    settings: { ...PLANTED_SETTINGS, feePercent: '0' },
    ...change,
  });
}

async function states(except = ''): Promise<string[]> {
  const sql = `SELECT s.state FROM finding_step s JOIN finding f ON f.id = s.finding_id
    WHERE f.occurred_at >= $1 AND f.category <> $2 ORDER BY s.id`;
  const steps = await database.query<{ state: string }>(sql, [new Date(day), except]);
  return steps.map(({ state }) => state);
}

const reasonsOf = ({ incomplete = [] }: TotalsRecord) => incomplete.map(({ reason }) => reason);

async function decide(state: string): Promise<void> {
  await database.query(
    `INSERT INTO finding_step (id, finding_id, state, reason, impact_usd)
     SELECT $3, f.id, $1, 'as agreed', s.impact_usd
     FROM finding f JOIN finding_sight s ON s.finding_id = f.id
     WHERE f.occurred_at >= $2 ORDER BY s.run_id DESC LIMIT 1`,
    [state, new Date(day), uuidv7()],
  );
}

describe('automatic closing of findings', () => {
  it('closes findings missing from a later run, and reopens them when they return', async () => {
    expect(await observe('12')).toEqual([]);
    expect(await observe('12')).toEqual([]);
    expect(await observe('10')).toEqual(['resolved']);
    expect(await observe('10')).toEqual(['resolved']);
    expect(await observe('12')).toEqual(['resolved', 'reopened']);
    const newest = 'SELECT reason, impact_usd::float8 AS usd FROM finding_step ORDER BY id DESC LIMIT 1';
    expect(await database.query(newest)).toEqual([
      { reason: expect.stringMatching(/^Run [0-9a-f-]{36} sees this difference again\.$/), usd: 2 },
    ]);
  });

  it('keeps the decision of a person until the difference changes', async () => {
    await observe('12');
    await decide('accepted');
    expect(await observe('12')).toEqual(['accepted']);
    expect(await observe('13')).toEqual(['accepted', 'reopened']);
    expect(await database.query('SELECT reason FROM finding_step ORDER BY id DESC LIMIT 1')).toEqual([
      { reason: expect.stringMatching(/^Run \S+ sees 3 USD where it was 2 USD when this was accepted\.$/) },
    ]);
  });

  it('ignores runs with as_of, another period or kind of source, or before the last decision', async () => {
    const old = await planned('10');
    await observe('12');
    expect(await observe('10', { historical: true })).toEqual([]);
    expect(await observe('10', { from: new Date(day + 60_000) })).toEqual([]);
    expect(await observe('10', { source: 'statement' })).toEqual([]);
    await runPlan(database, old);
    expect(await states()).toEqual([]);
    expect(await observe('10')).toEqual(['resolved']);
  });
});

describe('a listing that lacks known transactions', () => {
  it('prevents a clean run, and closes nothing', async () => {
    const issued_at = new Date(day + 2_000).toISOString();
    const amount = { status: 'paid', amount_usd: '10' };
    const named = (name: string): Theirs => ({ upstream_ref: name, issued_at, ...amount });
    const [stranger, known, lacked] = [named(`stranger-${day}`), named(upstream_ref), named(`lacked-${day}`)];
    const ours = { operation: 'POST /payouts/credit', at: issued_at, kind: 'succeeded', usd: '10' } as const;
    const idAt = (ms: number) => uuidv7({ msecs: day + ms });
    const names = { upstream_ref: `lacked-${day}`, batch_ref: `issue-${day}` };
    await writeOurs(database, [{ call_id: idAt(1_000), ...ours, ...names }]);
    const run = async (listed: Theirs[]) => {
      const plan = { ...(await planned(null)), readId: await writeTheirs(database, listed) };
      const totals = await runPlan(database, plan, async () => [
        await writeTheirs(database, [lacked], 'batch'),
      ]);
      const [end] = await database.query('SELECT result FROM reconciliation_run_end WHERE run_id = $1', [
        plan.runId,
      ]);
      return [end?.result, totals.findings.count, totals.unlisted, totals.residual_usd, reasonsOf(totals)];
    };
    expect(await run([stranger, known, lacked])).toEqual(['findings', 1, 0, '0', []]);
    const lacks = ['listing_lacks_known', 'listing_lacks_payouts'];
    expect(await run([known])).toEqual(['incomplete', 0, 1, '0', lacks]);
    expect(await states()).toEqual([]);
    expect(await run([known, lacked])).toEqual(['incomplete', 0, 0, '0', ['listing_lacks_known']]);
    expect(await states()).toEqual([]);
    // Our records contain it after all.
    await writeOurs(database, [{ call_id: idAt(2_000), ...ours, upstream_ref: `stranger-${day}` }]);
    expect(await run([stranger, known, lacked])).toEqual(['clean', 0, 0, '0', []]);
    expect(await states()).toEqual(['resolved']);
  });
});

describe('the entries of a wallet', () => {
  let timed = true;
  type Entry = [amount: string, before: string, after: string];

  /** @param entries newest first, a second apart. */
  async function gaps(balance: string, entries: Entry[]) {
    const run = await planned('10', { walletsReadId: await writeWallet(balance, entries) });
    await runPlan(database, run);
    const all = await findingsOf(database, run.runId);
    return lines(all.filter(({ category }) => category === 'balance_gap')).map((line) =>
      line.replace(/wallet\/\S+\/(.*)Z/, (_, at: string) => at.slice(-9, -7)),
    );
  }

  async function writeWallet(balance: string, entries: Entry[]): Promise<string> {
    const readId = uuidv7();
    await database.query(`INSERT INTO source_read (id, source) VALUES ($1, 'wallets')`, [readId]);
    const wallet = 'INSERT INTO upstream_wallet (read_id, wallet_id, balance) VALUES ($1, $2, $3)';
    await database.query(wallet, [readId, `w-${day}`, balance]);
    for (const [ordinal, [amount, before, after]] of entries.entries()) {
      const entered = timed && new Date(day + 60_000 - (4 - entries.length + ordinal) * 1_000);
      await database.query(
        `INSERT INTO upstream_wallet_entry (
           read_id, wallet_id, ordinal, amount, balance_before, new_balance, entered_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [readId, `w-${day}`, ordinal, amount, before, after, entered || null],
      );
    }
    await database.query(
      `INSERT INTO source_read_end (read_id, complete, bytes, rows, kept, faults)
       VALUES ($1, TRUE, 0, 0, 0, 0)`,
      [readId],
    );
    return readId;
  }

  it('join, whether or not amounts are signed, within floating-point noise', async () => {
    expect(
      await gaps('70', [
        ['-20', '90', '70'],
        ['-10', '100', '90.0000000000001'],
        ['100', '0', '100'],
      ]),
    ).toEqual([]);
    expect(
      await gaps('70', [
        ['20', '90', '70'],
        ['10', '100', '90'],
        ['100', '0', '100'],
      ]),
    ).toEqual([]);
  });

  it('leave a gap if they do not join: between two, within one, or at the balance', async () => {
    expect(
      await gaps('70', [
        ['-20', '90', '70'],
        ['-5', '95', '90'],
        ['100', '0', '100'],
      ]),
    ).toEqual(['balance_gap 58 0']);
    expect(
      await gaps('71', [
        ['-20', '90', '71'],
        ['-10', '100', '90'],
        ['100', '0', '100'],
      ]),
    ).toEqual(['balance_gap 59 0']);
    expect(
      await gaps('69', [
        ['-20', '90', '70'],
        ['-10', '100', '90'],
        ['100', '0', '100'],
      ]),
    ).toEqual(['balance_gap 59 0']);
  });

  it('are compared even without a time', async () => {
    timed = false;
    expect(await gaps('70', [['-20', '90', '70'], ['-5', '95', '90'], ['100', '0', '100']])).toEqual([
      `balance_gap wallet/w-${day}/untimed/95/-5/90 0`,
    ]); // oxfmt-ignore
    timed = true;
  });

  it('keep their finding, which closes once they join', async () => {
    const rewritten: Entry[] = [
      ['-10', '95', '85'],
      ['95', '0', '95'],
    ];
    expect(
      await gaps('90', [
        ['-10', '100', '90'],
        ['100', '0', '100'],
      ]),
    ).toEqual([]);
    expect(await gaps('85', rewritten)).toEqual(['balance_gap 57 0', 'balance_gap 58 0']);
    expect(await states('unexplained_debit')).toEqual([]);
    expect(await gaps('85', rewritten)).toEqual([]);
    expect(await states('unexplained_debit')).toEqual(['resolved', 'resolved']);
  });
});
