import { Decimal } from 'decimal.js';
import { Limits, limitsMoney, PERSON_LIMIT_KEYS } from '../../access/clients/limits/limits';
import { PersonLimits } from '../../access/people/person';
import { Item, totalOf } from '../../operations/items/item';
import { Fault, Problem } from '../../platform/errors/problem';
import { canonicalCountry, countryName, countryOfName } from '../../recipients/country-name';
import { countriesOfNumber } from '../../recipients/number-country';

/** The fields of an item that limits depend on. */
export type LimitedItem = Pick<Item, 'amountUsd' | 'country' | 'phone' | 'recipientField' | 'upstreamRef'>;

/** The requester: a client and a person. */
interface Requester {
  caller: { limits: Limits };
  person: { limits: PersonLimits } | null;
}

/** Returns the JSON pointer of an item's field, by the item's position in the list. */
type PointerOf = (place: number, field: 'amount' | 'country' | 'phone') => string;

/**
 * Returns the problems of a call with its client's per-call limits, independently of earlier calls. Empty
 * without any. The first one rejects the call and lists every fault of its kind.
 * @param movesValue whether the call moves value, so each item must have a known amount.
 */
export function brokenLimits(
  limits: Limits,
  movesValue: boolean,
  items: LimitedItem[],
  pointerOf: PointerOf,
): Problem[] {
  const problems = [
    tooManyItems(limits, items),
    wrongCountries(limits, items, pointerOf) ?? foreignNumbers(limits, items, pointerOf),
    movesValue ? missingAmounts(limits, items, pointerOf) : undefined,
    tooMuchMoney(limits, items, pointerOf),
    movesValue ? tooMuchOfPerson(limits, items, pointerOf) : undefined,
  ];
  return problems.filter((problem) => problem !== undefined);
}

/** Returns whether a payout needs an approval. Unknown totals were rejected before. */
export function needsApproval({ approvalOverUsd }: Limits, total: Decimal | null): boolean {
  return approvalOverUsd !== null && total !== null && total.greaterThan(approvalOverUsd);
}

/**
 * Returns the problem of a call that moves value without a person: a client whose persons have limits could
 * otherwise bypass them. Undefined if it needs no person.
 */
export function missingPerson(limits: Limits): Problem | undefined {
  return PERSON_LIMIT_KEYS.some((key) => limits[key] !== null) ? new Problem('person_required') : undefined;
}

/** Returns the limits of a request: its client's, with the person's in place of the defaults. */
export function limitsOfRequest({ caller, person }: Requester): Limits {
  return person ? { ...caller.limits, ...person.limits } : caller.limits;
}

function tooManyItems({ maxItems }: Limits, items: LimitedItem[]): Problem | undefined {
  if (maxItems === null || items.length <= maxItems) return undefined;
  return new Problem('too_many_items', {
    text:
      `This request has ${items.length} items, and your client may send at most ${maxItems} in one call. ` +
      'Nothing was sent.',
  });
}

/**
 * Finds items for other countries, by their stated country and their phone number. Items without both (a
 * credit by email, a transfer) pass, because their destination is unknown. Items that pay no recipient pass
 * too, as in a collection.
 */
function wrongCountries(
  { countries }: Limits,
  items: LimitedItem[],
  pointerOf: PointerOf,
): Problem | undefined {
  if (countries.length === 0) return undefined;
  const fieldOf = wrongFieldWith(countries);
  const wrong = items.flatMap((item, place) => {
    const field = item.recipientField === null ? undefined : fieldOf(item);
    return field === undefined ? [] : [{ field, pointer: pointerOf(place, field) }];
  });
  const [first] = wrong;
  if (first === undefined) return undefined;
  // States the list of countries once, because a thousand items would make the response too long.
  const faults = wrong.map(({ field, pointer }) => {
    const kind = field === 'phone' ? 'number of a country' : 'country';
    const list = pointer === first.pointer ? `: ${countries.join(', ')}` : `, as listed at ${first.pointer}`;
    return { pointer, detail: `must be a ${kind} that your client may pay to${list}` };
  });
  return new Problem('country_not_allowed', { faults });
}

/**
 * Returns a function that finds the item field that names another country. A stated country matches in any
 * spelling. A number is compared if the stated country is known, or all allowed ones are. Otherwise it could
 * belong to a country whose name is unknown here.
 */
function wrongFieldWith(countries: string[]): (item: LimitedItem) => 'country' | 'phone' | undefined {
  const names = new Set(countries.map(canonicalCountry));
  const codes = new Set(countries.map(countryOfName));
  return ({ country, phone }) => {
    if (country !== null && !names.has(canonicalCountry(country))) return 'country';
    const isComparable = country === null ? !codes.has(undefined) : countryOfName(country) !== undefined;
    if (phone === null || !isComparable) return undefined;
    return countriesOfNumber(phone).some((code) => codes.has(code)) ? undefined : 'phone';
  };
}

/** Finds numbers of another country than their item states. The upstream judges unknown country names. */
function foreignNumbers(
  { allowForeignNumbers }: Limits,
  items: LimitedItem[],
  pointerOf: PointerOf,
): Problem | undefined {
  if (allowForeignNumbers) return undefined;
  const faults = items.flatMap(({ recipientField, phone, country }, place) => {
    const code = country === null ? undefined : countryOfName(country);
    if (recipientField === null || phone === null || code === undefined) return [];
    const possible = countriesOfNumber(phone);
    if (possible.includes(code)) return [];
    const names = possible.map((one) => countryName(one) ?? one).join(' or ');
    const detail = `is a number of ${names || 'no country'}, and the item states ${countryName(code)}`;
    return [{ pointer: pointerOf(place, 'phone'), detail }];
  });
  return faults.length > 0 ? new Problem('foreign_number', { faults }) : undefined;
}

function missingAmounts(limits: Limits, items: LimitedItem[], pointerOf: PointerOf): Problem | undefined {
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

/** Finds amounts over the per-call limits, which bound mistakes. A payment link counts like a payout. */
function tooMuchMoney(
  { maxItemUsd, maxCallUsd }: Limits,
  items: LimitedItem[],
  pointerOf: PointerOf,
): Problem | undefined {
  const faults: Fault[] = items.flatMap(({ amountUsd }, place) =>
    maxItemUsd !== null && amountUsd?.greaterThan(maxItemUsd)
      ? [
          {
            pointer: pointerOf(place, 'amount'),
            detail:
              `is ${amountUsd.toFixed()} US dollars, and must be at most ${maxItemUsd.toFixed()} for one ` +
              'item',
          },
        ]
      : [],
  );
  const total = totalOf(items);
  if (maxCallUsd !== null && total?.greaterThan(maxCallUsd)) {
    const detail =
      `the total is ${total.toFixed()} US dollars, and must be at most ${maxCallUsd.toFixed()} for one ` +
      'call of your client';
    faults.push({ pointer: '', detail });
  }
  if (faults.length === 0) return undefined;
  const text =
    'This request exceeds a limit of your client or key. Nothing was sent. "errors" lists the amounts ' +
    'that exceed it.';
  return new Problem('cap_exceeded', { text, faults });
}

function tooMuchOfPerson(
  { personMaxItemUsd: most }: Limits,
  items: LimitedItem[],
  pointerOf: PointerOf,
): Problem | undefined {
  const faults = items.flatMap(({ amountUsd }, place) =>
    most !== null && amountUsd?.greaterThan(most)
      ? [
          {
            pointer: pointerOf(place, 'amount'),
            detail:
              `is ${amountUsd.toFixed()} US dollars, and must be at most ${most.toFixed()} for one item ` +
              'of this person',
          },
        ]
      : [],
  );
  if (faults.length === 0) return undefined;
  const text =
    'This request exceeds a limit of its person. Nothing was sent. "errors" lists the amounts that ' +
    'exceed it.';
  return new Problem('cap_exceeded', { text, faults });
}
