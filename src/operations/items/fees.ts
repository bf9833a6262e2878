import { Decimal } from 'decimal.js';
import { StartError } from '../../platform/config/config';
import { OPERATION_NAMES, rowOf } from '../catalogue/catalogue';
import type { Item } from './item';

/** The expected fee of the upstream for a payout: a share of its amount, and a fixed part. */
export interface FeeRule {
  percent: Decimal;
  fixedUsd: Decimal;
}

/** Decimals of `spending`. */
const DECIMALS = 6;

const RATE = /^(\d{1,3}(?:\.\d{1,6})?)%(?:\+(\d{1,6}(?:\.\d{1,6})?))?$/;

/** Reads a rate such as `1.5%+0.05`, in the form of UPSTREAM_FEES and of records. */
export function readFeeRule(text: string): FeeRule | undefined {
  const [, percent, fixed = '0'] = RATE.exec(text) ?? [];
  return percent === undefined ? undefined : { percent: new Decimal(percent), fixedUsd: new Decimal(fixed) };
}

export function writeFeeRule({ percent, fixedUsd }: FeeRule): string {
  return `${percent.toFixed()}%${fixedUsd.isZero() ? '' : `+${fixedUsd.toFixed()}`}`;
}

/** Returns the fee of one payout, rounded up to the precision of `spending`. Zero for an unknown amount. */
export function feeOf(amountUsd: Decimal | null, { percent, fixedUsd }: FeeRule): Decimal {
  if (amountUsd === null) return new Decimal(0);
  return amountUsd.times(percent).div(100).plus(fixedUsd).toDecimalPlaces(DECIMALS, Decimal.ROUND_UP);
}

/** Returns the fees of a call. Null if none are expected. */
export function feesOf(
  items: readonly Pick<Item, 'amountUsd'>[],
  rate: FeeRule | null | undefined,
): Decimal | null {
  if (!rate) return null;
  return items.reduce((sum, { amountUsd }) => sum.plus(feeOf(amountUsd, rate)), new Decimal(0));
}

/**
 * Reads UPSTREAM_FEES.
 * @throws StartError for a name that is no paying operation, and for a text that is no rate.
 */
export function feeRules(configured: ReadonlyMap<string, string>): Map<string, FeeRule> {
  const paying: readonly string[] = OPERATION_NAMES.filter((name) => rowOf(name).effect === 'pay');
  return new Map(
    [...configured].map(([name, text]): [string, FeeRule] => {
      const rate = readFeeRule(text);
      if (!rate || !paying.includes(name)) {
        throw new StartError(
          `UPSTREAM_FEES has "${name}=${text}". It must have operations that pay, each with a rate, ` +
            `such as ${paying[0]}=1.5%+0.05. docs/reference/operations.md lists the operations.`,
        );
      }
      return [name, rate];
    }),
  );
}
