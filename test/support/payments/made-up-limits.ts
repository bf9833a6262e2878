import { Decimal } from 'decimal.js';
import * as fc from 'fast-check';
import { LimitRow } from '../../../src/access/clients/limits/limit-row';
import { LIMIT_KEYS, LIMIT_ROWS, LimitKey, Limits } from '../../../src/access/clients/limits/limits';

/** Values to choose from. They are few, so that limits are often equal. */
interface Values {
  usd: string[];
  counts: number[];
  countries: string[];
  addresses: string[];
  origins: string[];
}

export const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });

/** Generates the limits of a client. */
export function madeUpLimits({
  usd: amounts,
  counts,
  countries,
  addresses,
  origins,
}: Values): fc.Arbitrary<Limits> {
  const some = (words: string[]) => fc.uniqueArray(fc.constantFrom(...words));
  const lists = { country: some(countries), address: some(addresses), origin: some(origins) };
  const kinds = {
    usd: maybe(fc.constantFrom(...amounts).map((text) => new Decimal(text))),
    count: maybe(fc.constantFrom(...counts)),
    flag: fc.boolean(),
  };
  const arbitraryOf = (row: LimitRow): fc.Arbitrary<unknown> =>
    row.kind === 'list' ? lists[row.words] : kinds[row.kind];
  const arbitraries = LIMIT_KEYS.map((key) => [key, arbitraryOf(LIMIT_ROWS[key])]);
  return fc.record(Object.fromEntries(arbitraries) as { [key in LimitKey]: fc.Arbitrary<Limits[key]> });
}
