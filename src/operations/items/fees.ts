import { Decimal } from 'decimal.js';
import { StartError } from '../../platform/config/config';
import { movesValue, OPERATION_NAMES } from '../catalogue/catalogue';
import type { Item } from './item';

/** The fee of the upstream for payouts below an amount: a share of the amount, a fixed part and a minimum. */
export interface FeeTier {
  /** Null for all amounts above those of the other tiers. */
  belowUsd: Decimal | null;
  percent: Decimal;
  fixedUsd: Decimal;
  minUsd: Decimal;
}

/** The fee of each payout, by its amount. The amounts of the tiers rise, and the last one has none. */
export type FeeRule = readonly FeeTier[];

/** Decimals of `spending`. */
const DECIMALS = 6;

const ZERO = new Decimal(0);

const USD = String.raw`\d{1,12}(?:\.\d{1,6})?`;
const BELOW = `(?:<(?<below>${USD}):)?`;
const SHARE = String.raw`(?<percent>\d{1,3}(?:\.\d{1,6})?)%(?:\+(?<fixed>${USD}))?`;
const TIER = new RegExp(`^${BELOW}(?:${SHARE}|(?<only>${USD}))(?: min (?<min>${USD}))?$`);

/**
 * Reads a rule such as `1.5%+0.05 min 0.10` or `<10:0.20,<100:1%,2%`, in the form of UPSTREAM_FEES and of
 * records.
 */
export function readFeeRule(text: string): FeeRule | undefined {
  const tiers = text.split(',').map(readTier);
  const rule = tiers.flatMap((tier) => tier ?? []);
  return rule.length === tiers.length && rule.every(isInOrder) ? rule : undefined;
}

function readTier(text: string): FeeTier | undefined {
  const { below, percent, fixed, only, min } = TIER.exec(text)?.groups ?? {};
  if ((percent ?? only) === undefined || new Decimal(percent ?? 0).gt(100)) return undefined;
  return {
    belowUsd: below === undefined ? null : new Decimal(below),
    percent: new Decimal(percent ?? 0),
    fixedUsd: new Decimal(fixed ?? only ?? 0),
    minUsd: new Decimal(min ?? 0),
  };
}

/** Returns whether a tier has amounts of its own. Only the last one is for all other amounts. */
function isInOrder({ belowUsd }: FeeTier, position: number, rule: FeeRule): boolean {
  if (position === rule.length - 1) return belowUsd === null;
  return belowUsd?.gt(rule[position - 1]?.belowUsd ?? 0) ?? false;
}

export function writeFeeRule(rule: FeeRule): string {
  return rule.map(writeTier).join(',');
}

function writeTier({ belowUsd, percent, fixedUsd, minUsd }: FeeTier): string {
  const below = belowUsd === null ? '' : `<${belowUsd.toFixed()}:`;
  const share = percent.isZero() ? [] : [`${percent.toFixed()}%`];
  const fixed = fixedUsd.isZero() && share.length > 0 ? [] : [fixedUsd.toFixed()];
  return `${below}${[...share, ...fixed].join('+')}${minUsd.isZero() ? '' : ` min ${minUsd.toFixed()}`}`;
}

/** Returns the fee of one payout, rounded up to the precision of `spending`. Zero for an unknown amount. */
export function feeOf(amountUsd: Decimal | null, rule: FeeRule): Decimal {
  const tier = amountUsd && tierOf(amountUsd, rule);
  if (!tier) return ZERO;
  const feeUsd = amountUsd.times(tier.percent).div(100).plus(tier.fixedUsd);
  return Decimal.max(feeUsd, tier.minUsd).toDecimalPlaces(DECIMALS, Decimal.ROUND_UP);
}

function tierOf(amountUsd: Decimal, rule: FeeRule): FeeTier | undefined {
  return rule.find(({ belowUsd }) => belowUsd === null || amountUsd.lt(belowUsd));
}

/** Returns the fees of a call. Null if none are expected. */
export function feesOf(
  items: readonly Pick<Item, 'amountUsd'>[],
  rule: FeeRule | null | undefined,
): Decimal | null {
  if (!rule) return null;
  return items.reduce((sum, { amountUsd }) => sum.plus(feeOf(amountUsd, rule)), ZERO);
}

/** Returns the part of a rule that gives these payouts their fees. Null if none of them has a fee. */
export function ruleFor(items: readonly Pick<Item, 'amountUsd'>[], rule: FeeRule): FeeRule | null {
  const used = new Set(items.map(({ amountUsd }) => amountUsd && tierOf(amountUsd, rule)));
  const tiers = rule.filter((tier) => used.has(tier));
  const last = tiers.pop();
  return last ? [...tiers, { ...last, belowUsd: null }] : null;
}

/** The fees of an account in the form of the configuration, by operation. */
export interface AccountFees {
  name: string;
  fees: ReadonlyMap<string, string>;
}

/**
 * Returns the configured rules by account and operation. An account has those of `main` for the operations
 * that it does not name.
 * @param main the account `main`, whose rules those of the others replace.
 * @throws StartError with every fault.
 */
export function configuredRules([main, ...others]: readonly AccountFees[]): ReadonlyMap<
  string,
  ReadonlyMap<string, FeeRule>
> {
  const faults: string[] = [];
  const ofMain = main ? readRules(main, faults) : [];
  const rules = new Map([[main?.name ?? '', new Map(ofMain)]]);
  for (const account of others) rules.set(account.name, new Map([...ofMain, ...readRules(account, faults)]));
  if (faults.length > 0) throw new StartError([...faults, FORM].join('\n'));
  return rules;
}

/** The operations whose payouts have fees. */
export const FEE_OPERATIONS: readonly string[] = OPERATION_NAMES.filter(movesValue);

const EXAMPLE = 'POST /payouts/airtime';
const FORM =
  `Give operations that move value a rule, such as ${EXAMPLE}=1.5%+0.05 min 0.10, or tiers by amount, ` +
  `such as ${EXAMPLE}=<10:0.20,<100:1%,2%. docs/reference/operations.md lists the operations.`;

function readRules({ name, fees }: AccountFees, faults: string[]): [string, FeeRule][] {
  return [...fees].flatMap(([operation, text]) => {
    const rule = readFeeRule(text);
    const of = `The fees of the upstream account ${name} have "${operation}=${text}".`;
    if (!FEE_OPERATIONS.includes(operation)) faults.push(`${of} ${operation} moves no value.`);
    if (!rule) faults.push(`${of} "${text}" is no rule.`);
    return rule ? [[operation, rule]] : [];
  });
}
