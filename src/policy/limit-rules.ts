import { Decimal } from 'decimal.js';
import { Limits, limitsMoney } from '../access/clients/limits';
import { Fault, Problem } from '../platform/errors/problem';
import { Item, totalOf } from '../operations/item';
import { normalise } from './country-name';

/** The fields of an item that limits depend on. */
export type Limited = Pick<Item, 'amountUsd' | 'country' | 'recipientField' | 'upstreamRef'>;

/** Returns the JSON pointer of an item's field, by the position of the item in the list. */
type PointerOf = (place: number, field: 'amount' | 'country') => string;

/**
 * Returns why a call exceeds the limits of its client for a single call, independently of earlier calls. The list is
 * empty if it does not. The first reason rejects the call and has every fault of its kind.
 * @param movesValue whether the call moves value, so that the amount of each item must be known.
 */
export function brokenLimits(limits: Limits, movesValue: boolean, items: Limited[], pointerOf: PointerOf): Problem[] {
  const problems = [
    tooManyItems(limits, items),
    wrongCountries(limits, items, pointerOf),
    movesValue ? missingAmounts(limits, items, pointerOf) : undefined,
    tooMuchMoney(limits, items, pointerOf),
  ];
  return problems.filter((problem) => problem !== undefined);
}

/**
 * Returns whether a payout needs an approval. If the client has such a limit, a payout with an unknown total was
 * rejected before.
 */
export function needsApproval({ approvalOverUsd }: Limits, total: Decimal | null): boolean {
  return approvalOverUsd !== null && total !== null && total.greaterThan(approvalOverUsd);
}

function tooManyItems({ maxItems }: Limits, items: Limited[]): Problem | undefined {
  if (maxItems === null || items.length <= maxItems) return undefined;
  return new Problem('too_many_items', {
    text: `This request has ${items.length} items, and your client may send at most ${maxItems} in one call. Nothing was sent.`,
  });
}

/**
 * Finds items for other countries. Items without a country (a credit by email, a transfer) pass, because their
 * destination is unknown. So do items that pay nobody, as in a collection.
 */
function wrongCountries({ countries }: Limits, items: Limited[], pointerOf: PointerOf): Problem | undefined {
  if (countries.length === 0) return undefined;
  const allowed = new Set(countries.map(normalise));
  const isWrong = ({ country, recipientField }: Limited) =>
    country !== null && recipientField !== null && !allowed.has(normalise(country));
  const pointers = items.flatMap((item, place) => (isWrong(item) ? [pointerOf(place, 'country')] : []));
  const [first] = pointers;
  if (first === undefined) return undefined;
  // The list of countries is stated once, because a thousand items would make the response too long.
  const faults = pointers.map((pointer) => ({
    pointer,
    detail:
      pointer === first
        ? `must be a country that your client may pay to: ${countries.join(', ')}`
        : `must be a country that your client may pay to, as listed at ${first}`,
  }));
  return new Problem('country_not_allowed', { faults });
}

function missingAmounts(limits: Limits, items: Limited[], pointerOf: PointerOf): Problem | undefined {
  if (!limitsMoney(limits)) return undefined;
  const faults = items.flatMap(({ amountUsd, upstreamRef }, place) => {
    if (amountUsd !== null) return [];
    const detail =
      upstreamRef === null
        ? 'is required, because your client has a limit in US dollars'
        : 'must name a transaction whose amount is known, because your client has a limit in US dollars';
    return [{ pointer: pointerOf(place, 'amount'), detail }];
  });
  return faults.length > 0 ? new Problem('amount_required', { faults }) : undefined;
}

/**
 * Finds amounts over the limits of one call. A payment link counts like a payout, because these limits keep mistakes
 * small.
 */
function tooMuchMoney({ maxItemUsd, maxCallUsd }: Limits, items: Limited[], pointerOf: PointerOf): Problem | undefined {
  const faults: Fault[] = items.flatMap(({ amountUsd }, place) =>
    maxItemUsd !== null && amountUsd?.greaterThan(maxItemUsd)
      ? [
          {
            pointer: pointerOf(place, 'amount'),
            detail: `is ${amountUsd.toFixed()} US dollars, and must be at most ${maxItemUsd.toFixed()} for one item of your client`,
          },
        ]
      : [],
  );
  const total = totalOf(items);
  if (maxCallUsd !== null && total?.greaterThan(maxCallUsd)) {
    const detail = `the total is ${total.toFixed()} US dollars, and must be at most ${maxCallUsd.toFixed()} for one call of your client`;
    faults.push({ pointer: '', detail });
  }
  if (faults.length === 0) return undefined;
  const text =
    'This request exceeds a limit of your client. Nothing was sent. "errors" lists the amounts that exceed it.';
  return new Problem('cap_exceeded', { text, faults });
}
