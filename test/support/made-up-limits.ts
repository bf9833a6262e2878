import { Decimal } from 'decimal.js';
import * as fc from 'fast-check';
import { Limits } from '../../src/access/clients/limits';

/** The values to choose from. Few values make two limits equal often. */
interface Values {
  usd: string[];
  counts: number[];
  countries: string[];
  addresses: string[];
  origins: string[];
}

export const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });

/** Makes up the limits of a client. */
export function madeUpLimits({ usd: amounts, counts, countries, addresses, origins }: Values): fc.Arbitrary<Limits> {
  const usd = maybe(fc.constantFrom(...amounts).map((text) => new Decimal(text)));
  const count = maybe(fc.constantFrom(...counts));
  const some = (words: string[]) => fc.uniqueArray(fc.constantFrom(...words));
  return fc.record({
    dailyCapUsd: usd,
    monthlyCapUsd: usd,
    maxItemUsd: usd,
    maxCallUsd: usd,
    approvalOverUsd: usd,
    approvalOverRecipientDayUsd: usd,
    approvalOverDayUsd: usd,
    maxRecipientDayUsd: usd,
    holdDuplicatesDays: count,
    maxItems: count,
    requestsPerMinute: count,
    countries: some(countries),
    addresses: some(addresses),
    origins: some(origins),
    requireIdempotencyKey: fc.boolean(),
    beneficiariesOnly: fc.boolean(),
    beneficiaryCoolOffSeconds: count,
    personDailyCapUsd: usd,
    personMonthlyCapUsd: usd,
    personMaxItemUsd: usd,
    personRequestsPerMinute: count,
  });
}
