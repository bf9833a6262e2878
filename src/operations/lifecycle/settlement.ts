import { Decimal } from 'decimal.js';
import { CHANGED_BY, CreationRules, CREATED_BY, NAMED_IN_ANSWER } from '../items/effects';
import { FeeRule, feeOf } from '../items/fees';
import { ENTRIES, Entry } from './entries';
import { Resolution } from './lifecycle';
import { Status } from './statuses';

export * from './entries';

/** Returns whether the items of an operation move value or promise to. Other items have no entries. */
export function settlesItems(operation: string): boolean {
  return CREATED_BY.has(operation) || CHANGED_BY.get(operation) === 'redeemed';
}

/**
 * Returns the entry for a transaction of the upstream. An unknown word leaves the payout in doubt. So does an
 * unpaid payout, because the upstream pays payouts at once.
 * @param created undefined for a redemption.
 */
export function entryOf(status: Status | undefined, created: CreationRules | undefined): Entry {
  if (status === undefined) return 'in_doubt';
  if (status !== 'unpaid') return status;
  return created?.paidAtOnce === false ? 'pending' : 'in_doubt';
}

/** A transaction in an answer, with the position of its item if certain. */
interface AnsweredTransaction {
  position: number | null;
  /** The upstream's own word. */
  status: string | null;
  /** Meaning of the word. Undefined without a word, or for an unknown one. */
  meaning: Status | undefined;
  /** Whether it has an ID, by which the upstream lists it. */
  isNamed: boolean;
  /** Whether it contradicts every item that has no transaction. */
  isRefused: boolean;
}

/**
 * Returns the entry of each item of a call after the upstream's answer. Undefined if the items are no
 * payouts. Where answers always name transactions, a payout without a named one is in doubt until the
 * upstream lists it.
 * @param kind what the answer proves about the whole call. A transaction outweighs it.
 */
export function entriesOfAnswer(
  operation: string,
  kind: 'succeeded' | 'rejected' | 'not_sent' | 'unknown',
  itemCount: number,
  transactions: readonly AnsweredTransaction[],
): Entry[] | undefined {
  if (itemCount === 0 || !settlesItems(operation)) return undefined;
  const created = CREATED_BY.get(operation);
  const needsName = NAMED_IN_ANSWER.has(operation);
  const toEntry = ({ status, meaning, isNamed }: AnsweredTransaction): Entry => {
    if (needsName && !isNamed) return 'in_doubt';
    return status === null && kind === 'succeeded' ? expectedOf(created) : entryOf(meaning, created);
  };
  const entries = new Array<Entry | undefined>(itemCount).fill(undefined);
  for (const one of transactions) if (one.position !== null) entries[one.position] = toEntry(one);
  const others = transactions.filter(({ position, isNamed }) => position === null && (isNamed || !needsName));
  const left = entries.filter((entry) => entry === undefined).length;
  const [first, ...more] = others.map(toEntry);
  // If all other transactions agree, their order does not matter.
  const isSame = others.length === left && more.every((entry) => entry === first);
  const same = isSame && !others.some(({ isRefused }) => isRefused) ? first : undefined;
  const remaining = same ?? entryWithoutTransaction(kind, created, needsName || transactions.length > 0);
  return entries.map((entry) => entry ?? remaining);
}

function entryWithoutTransaction(
  kind: string,
  created: CreationRules | undefined,
  needsTransaction: boolean,
): Entry {
  if (kind === 'rejected' || kind === 'not_sent') return 'not_executed';
  // If an answer names the transactions of some items only, the others may have failed.
  return kind === 'unknown' || needsTransaction ? 'in_doubt' : expectedOf(created);
}

/** The entry for a success without details. A link or a collection still waits for its payer. */
function expectedOf(created: CreationRules | undefined): Entry {
  return created?.paidAtOnce === false ? 'pending' : 'paid';
}

/** Decimals of `spending`. */
const DECIMALS = 6;

/** A larger fee is a mistake and would not fit into `spending`. */
const MAX_FEE_USD = new Decimal('1e9');

/** Returns the fee to count, rounded up to the precision of `spending`. Null without a plausible fee. */
export function countableFee(feeUsd: Decimal | null): Decimal | null {
  if (!feeUsd?.greaterThan(0) || feeUsd.greaterThan(MAX_FEE_USD)) return null;
  return feeUsd.toDecimalPlaces(DECIMALS, Decimal.ROUND_UP);
}

/** The amounts of a payout. */
export interface PayoutAmounts {
  amountUsd: Decimal | null;
  entry: Entry;
  /** Fee charged by the upstream. Zero if unstated. */
  feeUsd: Decimal;
  /** Reserved fee until the payout's transaction states the real one. Zero from then on. */
  expectedFeeUsd: Decimal;
}

/**
 * Returns the amount of a call that counts on caps after an answer. Null if the whole reservation counts, to
 * leave the client's spending unchanged for almost all answers.
 * @param answered the fees in the answer, by position, and the positions of its named transactions.
 * @param rate the reserved fee.
 */
export function countedAfterAnswer(
  kind: 'succeeded' | 'rejected' | 'not_sent' | 'unknown',
  items: readonly Pick<PayoutAmounts, 'amountUsd'>[],
  entries: readonly Entry[] | undefined,
  { feesUsd, named }: { feesUsd: ReadonlyMap<number, Decimal>; named: ReadonlySet<number> },
  rate: FeeRule | null,
): Decimal | null {
  const isRejected = kind === 'rejected' || kind === 'not_sent';
  if (!entries) return isRejected ? new Decimal(0) : null;
  const counts = entries.filter((entry) => ENTRIES[entry].counts).length;
  if (counts === 0) return new Decimal(0);
  if (counts === entries.length && feesUsd.size === 0 && !rate) return null;
  const zero = new Decimal(0);
  return countedOf(
    entries.map((entry, position) => {
      const { amountUsd = null } = items[position] ?? {};
      const expectedFeeUsd = rate && !named.has(position) ? feeOf(amountUsd, rate) : zero;
      return { entry, amountUsd, feeUsd: feesUsd.get(position) ?? zero, expectedFeeUsd };
    }),
  );
}

/**
 * Returns the amount of payouts that counts on caps: amounts and fees, or expected fees. The fee of a payout
 * counts with its payout.
 */
export function countedOf(payouts: readonly PayoutAmounts[]): Decimal {
  return payouts.reduce(
    (sum, { amountUsd, entry, feeUsd, expectedFeeUsd }) =>
      ENTRIES[entry].counts
        ? sum
            .plus(amountUsd ?? 0)
            .plus(feeUsd)
            .plus(expectedFeeUsd)
        : sum,
    new Decimal(0),
  );
}

/**
 * Returns the resolution of a whole call by the entries of its items. Null if its answer stands, or if an
 * item is still in doubt.
 */
export function resolutionOf(kind: string | null, entries: readonly Entry[]): Resolution | null {
  if (kind === 'succeeded' || entries.some((entry) => !ENTRIES[entry].known)) return null;
  if (entries.some((entry) => entry !== 'not_executed')) return 'confirmed';
  return kind === 'unknown' ? 'not_executed' : null;
}

/** Returns the entry of a payout that was executed as requested. A link still waits for its payer. */
export function expectedEntry(operation: string): Entry {
  return expectedOf(CREATED_BY.get(operation));
}
