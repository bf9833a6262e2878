import { v7 as uuidv7 } from 'uuid';
import { Plan } from '../../../src/reconciliation/book/plan';
import { TotalsRecord } from '../../../src/reconciliation/matching/totals.dto';
import { createTestDatabase, TestDatabase } from '../databases/test-database';
import { Ours, runPlan, startRun, stepsSince, Theirs, writeListing, writeOurs } from './comparison';
import { lines, findingsOf } from './observed-findings';
import { PLANTED_SETTINGS } from './planted-findings';
import { WalletEntry, writeWallets } from './wallets';

export const DAY_MS = 86_400_000;
/** Number of transactions in the listings. Few are in the period. */
const LISTED = 1_000;

export let database: TestDatabase;
export let day = Date.parse('2024-01-01T00:00:00Z');
let asOf: number;
/** The totals of the latest run. */
export let latest: TotalsRecord;

/** Each test has separate days. Tests that depend on earlier readings also have a separate database. */
export function useDatabase(whose: 'of each test' | 'of all tests'): void {
  const [before, after] = whose === 'of each test' ? [beforeEach, afterEach] : [beforeAll, afterAll];
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.close());
  beforeEach(() => {
    day += 10 * DAY_MS;
    asOf = day + DAY_MS;
  });
}

export const at = (seconds: number) => new Date(day + seconds * 1_000).toISOString();
export const listed = (upstream_ref: string, seconds: number, more: Partial<Theirs> = {}): Theirs => ({
  upstream_ref,
  issued_at: at(seconds),
  status: 'paid',
  amount_usd: '10',
  email: `${upstream_ref}@example.com`,
  ...more,
});
export const OLD = () => listed('old', -3_600);

export async function paid(upstream_ref: string, seconds: number, more: Partial<Ours> = {}): Promise<void> {
  const call_id = uuidv7({ msecs: day + seconds * 1_000 });
  const email = `${upstream_ref}@example.com`;
  const ours = {
    call_id,
    operation: 'POST /payouts/credit',
    at: at(seconds),
    kind: 'succeeded',
    usd: '10',
  } as const;
  await writeOurs(database, [{ ...ours, email, upstream_ref, ...more }]);
}

/** @param balance of the wallets without entries. */
export const wallets = (
  looks: Record<string, WalletEntry[]>,
  readAt = new Date(day + DAY_MS),
  balance = '0',
) => writeWallets(database, looks, { day, readAt, balance });

/**
 * Compares the day with exactly this listing.
 * @returns the result, the reasons, and the findings.
 */
export async function run(
  theirs: Theirs[],
  { rows, window, ...change }: Partial<Plan> & { rows?: number; window?: Date[] } = {},
): Promise<[string, string[], string[]]> {
  asOf += 1_000;
  const source = change.source === 'statement' ? 'statement' : 'transactions';
  const readId = await writeListing(database, theirs, rows ?? (theirs.length && LISTED), source, window);
  const plan = await startRun(database, {
    from: new Date(day),
    to: new Date(day + DAY_MS),
    asOf: new Date(asOf),
    historical: false,
    source: 'upstream',
    readId,
    walletsReadId: null,
    settings: { ...PLANTED_SETTINGS, feePercent: '0' },
    ...change,
  });
  latest = await runPlan(database, plan);
  const { incomplete = [] } = latest;
  const [end] = await database.query<{ result: string }>(
    'SELECT result FROM reconciliation_run_end WHERE run_id = $1',
    [plan.runId],
  );
  expect(incomplete.every(({ detail }) => detail.endsWith('.'))).toBe(true);
  const found = lines(await findingsOf(database, plan.runId));
  return [end?.result ?? 'none', incomplete.map(({ reason }) => reason), found];
}

export const steps = () => stepsSince(database, new Date(day));
