import * as fc from 'fast-check';
import { Decimal } from 'decimal.js';
import { SCOPES } from '../../operations/scopes';
import { Grants } from '../clients/grants';
import { NO_LIMITS } from '../clients/limits';
import { NO_PROVIDERS } from '../clients/providers';
import { NO_PAGE_PROVIDER, PageProvider } from '../clients/page-provider';
import { NO_TOKEN_PROVIDER, TokenProvider } from '../clients/token-provider';
import { GUARDED_SCOPES, widenings } from './widens';

const WORDS = ['a', 'b', 'c', 'd'];
const USD = ['0', '1', '2.5', '10', '1000'];

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
const usd = maybe(fc.constantFrom(...USD).map((text) => new Decimal(text)));
const count = maybe(fc.integer({ min: 1, max: 5 }));
const words = fc.uniqueArray(fc.constantFrom(...WORDS));

const tokenProvider: fc.Arbitrary<TokenProvider> = fc.oneof(
  fc.constant(NO_TOKEN_PROVIDER),
  fc.record({
    tokenIssuer: fc.constantFrom(...WORDS),
    tokenAudience: fc.constantFrom(...WORDS),
    tokenJwksUri: fc.constantFrom(...WORDS),
    tokenAlgorithms: fc.subarray(['ES256', 'RS256'], { minLength: 1 }),
    tokenClientId: fc.constantFrom(...WORDS),
    tokenDpop: fc.boolean(),
  }),
);

const pageProvider: fc.Arbitrary<PageProvider> = fc.oneof(
  fc.constant(NO_PAGE_PROVIDER),
  fc.record({ pageIssuer: fc.constantFrom(...WORDS), pageClientId: fc.constantFrom(...WORDS) }),
);

const limits = fc.record({
  scopes: fc.uniqueArray(fc.constantFrom(...SCOPES), { minLength: 1 }),
  operations: maybe(fc.uniqueArray(fc.constantFrom(...WORDS), { minLength: 1 })),
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
  countries: words,
  addresses: words,
  origins: words,
  requireIdempotencyKey: fc.boolean(),
  beneficiariesOnly: fc.boolean(),
  beneficiaryCoolOffSeconds: count,
  personDailyCapUsd: usd,
  personMonthlyCapUsd: usd,
  personMaxItemUsd: usd,
  personRequestsPerMinute: count,
});

const grants: fc.Arbitrary<Grants> = fc
  .tuple(limits, tokenProvider, pageProvider)
  .map(([one, two, three]) => ({ ...one, ...two, ...three }));

/** Everything that a client may do without a second person, as plain statements. */
function possibilities({ scopes, operations, ...limits }: Grants): Set<string> {
  const may: string[] = GUARDED_SCOPES.filter((scope) => scopes.includes(scope)).map((scope) => `hold ${scope}`);
  const all = (text: string, list: readonly string[]) => may.push(...list.map((word) => `${text} ${word}`));
  all('use', operations ?? [...WORDS, 'a future operation']);
  all('pay to', limits.countries.length > 0 ? limits.countries : [...WORDS, 'any country']);
  all('call from', limits.addresses.length > 0 ? limits.addresses : [...WORDS, 'any address']);
  all('call from a page of', limits.origins);
  const amounts = [
    limits.dailyCapUsd,
    limits.monthlyCapUsd,
    limits.maxItemUsd,
    limits.maxCallUsd,
    limits.approvalOverUsd,
    limits.approvalOverRecipientDayUsd,
    limits.approvalOverDayUsd,
    limits.maxRecipientDayUsd,
    limits.maxItems,
    limits.requestsPerMinute,
    limits.personDailyCapUsd,
    limits.personMonthlyCapUsd,
    limits.personMaxItemUsd,
    limits.personRequestsPerMinute,
  ];
  for (const [index, limit] of amounts.entries()) {
    const sizes = [...USD, '3', '4', '5', '1000000'].filter((size) => limit === null || new Decimal(size).lte(limit));
    all(`reach, in limit ${index},`, sizes);
  }
  const held = limits.holdDuplicatesDays ?? 0;
  all(
    'repeat a payout after days:',
    ['0', '1', '2', '3', '4', '5'].filter((days) => Number(days) >= held),
  );
  const coolOff = limits.beneficiaryCoolOffSeconds ?? 0;
  all(
    'pay a recipient after seconds:',
    ['0', '1', '2', '3', '4', '5'].filter((seconds) => Number(seconds) >= coolOff),
  );
  if (!limits.beneficiariesOnly) may.push('pay any recipient');
  if (!limits.requireIdempotencyKey) may.push('pay without an idempotency key');
  const { tokenIssuer, tokenAudience, tokenJwksUri, tokenAlgorithms, tokenClientId, tokenDpop } = limits;
  if (tokenIssuer !== null) {
    const from = JSON.stringify([tokenIssuer, tokenAudience, tokenJwksUri, tokenAlgorithms, tokenClientId]);
    all(`take tokens of ${from}`, tokenDpop ? ['bound'] : ['bound', 'not bound']);
  }
  const { pageIssuer, pageClientId } = limits;
  if (pageIssuer !== null) may.push(`let people of ${JSON.stringify([pageIssuer, pageClientId])} in to its pages`);
  return new Set(may);
}

describe('what a change widens', () => {
  const nothing: Grants = { ...NO_LIMITS, ...NO_PROVIDERS, scopes: ['pay'], operations: null };

  it('finds a widening exactly if something becomes possible', () => {
    fc.assert(
      fc.property(grants, grants, (before, after) => {
        const could = possibilities(before);
        const becomes = [...possibilities(after)].filter((possibility) => !could.has(possibility));
        expect([widenings(before, after).length > 0, becomes]).toEqual([becomes.length > 0, becomes]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('finds nothing in the same state, and adds up', () => {
    fc.assert(
      fc.property(grants, grants, grants, (one, two, three) => {
        expect(widenings(one, one)).toEqual([]);
        const steps = new Set([...widenings(one, two), ...widenings(two, three)]);
        expect(widenings(one, three).filter((name) => !steps.has(name))).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each<[Partial<Grants>, Partial<Grants>, string[]]>([
    [{ dailyCapUsd: new Decimal(10) }, { dailyCapUsd: new Decimal('10.01') }, ['daily_cap_usd']],
    [{ approvalOverUsd: new Decimal(0) }, { approvalOverUsd: null }, ['approval_over_usd']],
    [{ holdDuplicatesDays: 7 }, { holdDuplicatesDays: 6 }, ['hold_duplicates_days']],
    [{ holdDuplicatesDays: null }, { holdDuplicatesDays: 7 }, []],
    [{ countries: ['Kenya'] }, { countries: [] }, ['countries']],
    [{ origins: ['https://a.example'] }, { origins: [] }, []],
    [{ operations: ['POST /send'] }, { operations: null }, ['operations']],
    [{ scopes: ['read'] }, { scopes: ['read', 'write', 'audit'] }, []],
    [{ scopes: ['read'] }, { scopes: ['pay', 'account'], maxItems: 3 }, ['scopes']],
    [{ maxItems: 3, requireIdempotencyKey: true }, {}, ['max_items', 'require_idempotency_key']],
    [{ tokenIssuer: 'a', tokenDpop: false }, { tokenIssuer: 'a', tokenDpop: true }, []],
    [{ tokenIssuer: 'a', tokenDpop: true }, { tokenIssuer: 'a', tokenDpop: false }, ['token_dpop']],
    [{ tokenIssuer: 'a' }, { tokenIssuer: 'b' }, ['token_issuer']],
    [{ tokenIssuer: 'a' }, {}, []],
    [{}, { pageIssuer: 'a', pageClientId: 'b' }, ['page_issuer', 'page_client_id']],
    [{ pageIssuer: 'a', pageClientId: 'b' }, { pageIssuer: 'a', pageClientId: 'c' }, ['page_client_id']],
    [{ pageIssuer: 'a', pageClientId: 'b' }, {}, []],
  ])('compares %j with %j', (before, after, widened) => {
    expect(widenings({ ...nothing, ...before }, { ...nothing, ...after })).toEqual(widened);
  });
});
