import fc from 'fast-check';
import { v7 as uuidv7 } from 'uuid';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { runs } from '../../support/examples/runs';
import {
  Ours,
  runPlan,
  startRun,
  Theirs,
  writeOurs,
  writeTheirs,
} from '../../support/reconciliation/comparison';
import { lines, ObservedFinding, findingsOf } from '../../support/reconciliation/observed-findings';

/** A payment, and the upstream's transaction. Amounts in millionths of a dollar. */
interface Case {
  operation: string;
  /** Of the payout. Its call succeeded if it `failed`. */
  state: 'succeeded' | 'failed' | 'rejected' | 'unknown' | 'confirmed';
  usd: bigint | null;
  theirs: {
    word: string | null;
    usd: bigint | null;
    fee: bigint | null;
    seconds: number;
    email: 'same' | 'other' | null;
  } | null;
}

interface Tolerances {
  amount: bigint;
  feePercent: number;
  fee: bigint;
}

const LATE_SECONDS = 300;
const PAYOUTS = ['POST /payouts/airtime', 'POST /payouts/mobile-money', 'POST /payouts/credit'];
const MOVED = ['paid', 'Redeemed', 'SUCCESSFUL', 'success', 'completed', 'complete', 'Sent', null];
const NOT = [
  'unpaid',
  'FAILED',
  'expired',
  'cancelled',
  'CANCELED',
  'fraud',
  'reversed',
  'refunded',
  'deleted',
];
const lost = (word: string | null) => ({ refunded: 'refund', reversed: 'reversal' })[word ?? ''] ?? 'status';
const OPEN = ['pending', 'PROCESSING'];
const ODD = ['teleported', 'on hold'];

const usd = fc.bigInt({ min: 0n, max: 200_000_000n });
const near = fc.bigInt({ min: -30_000n, max: 30_000n });

const aCase: fc.Arbitrary<Case> = fc
  .record({
    operation: fc.constantFrom(
      ...PAYOUTS,
      'POST /account/transfer',
      'POST /wallets/transfer',
      'POST /send',
      'POST /payouts/initiate-credit',
    ),
    state: fc.constantFrom('succeeded', 'succeeded', 'failed', 'rejected', 'unknown', 'confirmed'),
    usd: fc.option(usd, { freq: 10 }),
    theirs: fc.option(
      fc.record({
        word: fc.constantFrom(...MOVED, ...NOT, ...OPEN, ...ODD),
        usd: fc.option(usd, { freq: 10 }),
        near: fc.option(near, { freq: 3 }),
        fee: fc.option(fc.bigInt({ min: 0n, max: 2_000_000n })),
        seconds: fc.integer({ min: -50, max: 800 }),
        email: fc.constantFrom('same', 'same', 'other', null),
      }),
      { freq: 6 },
    ),
  } as const)
  .map(({ theirs, ...ours }) => {
    if (!theirs) return { ...ours, theirs };
    // Most amounts are equal or nearly equal.
    const close =
      ours.usd !== null && theirs.near !== null && theirs.usd !== null ? ours.usd + theirs.near : theirs.usd;
    return { ...ours, theirs: { ...theirs, usd: close !== null && close < 0n ? 0n : close } };
  });

const tolerances: fc.Arbitrary<Tolerances> = fc.record({
  amount: fc.constantFrom(0n, 10_000n),
  feePercent: fc.constantFrom(0, 1, 2),
  fee: fc.constantFrom(0n, 10_000n, 500_000n),
});

const magnitude = (value: bigint) => (value < 0n ? -value : value);

/** Expected findings of one case, from the rules of the design alone. */
function expected({ operation, state, usd: named, theirs }: Case, { amount, feePercent, fee }: Tolerances) {
  const isLink = operation === 'POST /send' || operation === 'POST /payouts/initiate-credit';
  const isOver = state === 'failed' || state === 'rejected';
  // A link may still be paid.
  const weSay = isLink && !isOver ? null : state === 'succeeded' || state === 'confirmed';
  const found: [string, bigint][] = [];
  // Rounded half up to whole millionths.
  const feeFor = (value: bigint) =>
    PAYOUTS.includes(operation) ? (value * BigInt(feePercent) + 50n) / 100n : 0n;
  if (!theirs) {
    const ours = named ?? 0n;
    if (weSay) found.push(['missing_upstream', -(ours + feeFor(ours))]);
    return { found, within: 0n };
  }
  const { word } = theirs;
  const theySay = MOVED.includes(word) ? true : word !== null && NOT.includes(word) ? false : (weSay ?? true);
  const moved = weSay ?? theySay;
  const ours = named ?? theirs.usd ?? 0n;
  const their = theirs.usd ?? 0n;
  const due = named === null ? 0n : feeFor(ours);
  const taken = theirs.fee ?? 0n;
  let within = 0n;
  if (moved !== theySay) found.push([theySay ? 'status' : lost(word), theySay ? ours + due : -(ours + due)]);
  if (magnitude(their - ours) > amount)
    found.push([their > ours ? 'amount_over' : 'amount_under', theySay ? their - ours : 0n]);
  else if (theySay) within += their - ours;
  if (theySay && magnitude(taken - due) > fee) found.push(['fee', taken - due]);
  else if (theySay) within += taken - due;
  if (theirs.email === 'other') found.push(['recipient', 0n]);
  if (theirs.seconds > LATE_SECONDS) found.push(['late', 0n]);
  if (word !== null && ODD.includes(word)) found.push(['unrecognised_status', 0n]);
  return { found, within };
}

const KINDS = {
  succeeded: { kind: 'succeeded' },
  failed: { kind: 'succeeded', entry: 'failed' },
  rejected: { kind: 'rejected' },
  unknown: { kind: 'unknown' },
  confirmed: { kind: 'unknown' },
} as const;

const decimal = (value: bigint) => {
  const digits = magnitude(value).toString().padStart(7, '0');
  const text = `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '');
  return value < 0n ? `-${text}` : text;
};

let database: TestDatabase;
let day = Date.parse('2026-11-01T00:00:00Z');

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

async function find(cases: Case[], { amount, feePercent, fee }: Tolerances) {
  day += 2 * 86_400_000; // a separate period for each
  const ours: Ours[] = [];
  const theirs: Theirs[] = [];
  for (const [place, one] of cases.entries()) {
    const at = new Date(day + 3_600_000 + place * 1_000);
    const upstream_ref = uuidv7();
    const call_id = uuidv7({ msecs: at.getTime() });
    ours.push({
      call_id,
      operation: one.operation,
      at: at.toISOString(),
      usd: one.usd === null ? null : decimal(one.usd),
      upstream_ref,
      ...KINDS[one.state],
      resolution: one.state === 'confirmed' ? 'confirmed' : null,
      email: `${call_id}@example.com`,
    });
    if (!one.theirs) continue;
    theirs.push({
      upstream_ref,
      issued_at: new Date(at.getTime() + one.theirs.seconds * 1_000).toISOString(),
      status: one.theirs.word,
      amount_usd: one.theirs.usd === null ? null : decimal(one.theirs.usd),
      fee_usd: one.theirs.fee === null ? null : decimal(one.theirs.fee),
      email: one.theirs.email && `${one.theirs.email === 'same' ? '' : 'other.'}${call_id}@example.com`,
    });
  }
  await writeOurs(database, ours);
  const plan = await startRun(database, {
    from: new Date(day),
    to: new Date(day + 86_400_000),
    asOf: new Date(day + 2 * 86_400_000),
    readId: await writeTheirs(database, theirs),
    walletsReadId: null,
    historical: false,
    source: 'upstream',
    settings: {
      amountToleranceUsd: decimal(amount),
      balanceToleranceUsd: '0',
      feePercent: String(feePercent),
      feeToleranceUsd: decimal(fee),
      timeToleranceSeconds: 900,
      lateAfterSeconds: LATE_SECONDS,
      statusWords: [],
    },
  });
  return {
    totals: await runPlan(database, plan),
    seen: await findingsOf(database, plan.runId),
    calls: ours.map(({ call_id }) => call_id),
  };
}

describe('the equation of a run', () => {
  it('holds for every pair of statements about a payment, with each part by the rules', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(aCase, { minLength: 60, maxLength: 60 }),
        tolerances,
        async (cases, tolerance) => {
          const { totals, seen, calls } = await find(cases, tolerance);
          const oracle = cases.map((one) => expected(one, tolerance));
          const all: ObservedFinding[] = oracle.flatMap(({ found }, place) =>
            found.map(([category, impact]) => ({
              category,
              subject: `call/${calls[place]}/0`,
              impact: decimal(impact),
            })),
          );
          expect(lines(seen)).toEqual(lines(all));
          expect(totals.within_tolerance_usd).toBe(
            decimal(oracle.reduce((sum, { within }) => sum + within, 0n)),
          );
          expect(totals.residual_usd).toBe('0');
        },
      ),
      { numRuns: runs(8) },
    );
  });
});
