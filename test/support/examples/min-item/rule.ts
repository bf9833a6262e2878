import { Decimal } from 'decimal.js';
import { Problem } from '../../../../src/platform/errors/problem';
import { LimitedItem } from '../../../../src/policy/limits/limit-rules';

interface Limits {
  minItemUsd: Decimal | null;
}

type PointerOf = (position: number, field: 'amount') => string;

/** Rule of a fictitious limit, as in docs/internals/guides/add-a-rule-about-money.md. */
export function tooLittle(
  { minItemUsd: least }: Limits,
  items: LimitedItem[],
  pointerOf: PointerOf,
): Problem | undefined {
  const faults = items.flatMap(({ amountUsd }, position) => {
    if (least === null || !amountUsd?.lessThan(least)) return [];
    const detail = `is ${amountUsd.toFixed()} US dollars; must be at least ${least.toFixed()} for one item`;
    return [{ pointer: pointerOf(position, 'amount'), detail }];
  });
  const text =
    'This request has an item below a limit of your client. Nothing was sent. "errors" lists the amounts.';
  return faults.length > 0 ? new Problem('cap_exceeded', { text, faults }) : undefined;
}
