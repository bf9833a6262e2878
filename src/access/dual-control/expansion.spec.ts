import { Decimal } from 'decimal.js';
import * as fc from 'fast-check';
import { madeUpLimits, maybe } from '../../../test/support/payments/made-up-limits';
import { SCOPES } from '../../operations/catalogue/scopes';
import { Grants } from '../clients/grants';
import { NO_LIMITS } from '../clients/limits/limits';
import {
  NO_PAGE_PROVIDER,
  NO_PROVIDERS,
  NO_TOKEN_PROVIDER,
  PageProvider,
  PROVIDER_KEYS,
  Providers,
  TokenProvider,
} from '../clients/providers';
import { expansions } from './expansion';

const WORDS = ['a', 'b', 'c', 'd'];
const AGES = [60, 3_600, 86_400];

const tokenProvider: fc.Arbitrary<TokenProvider> = fc.oneof(
  fc.constant(NO_TOKEN_PROVIDER),
  fc.record({
    tokenIssuer: fc.constantFrom(...WORDS),
    tokenAudience: fc.constantFrom(...WORDS),
    tokenJwksUri: fc.constantFrom(...WORDS),
    tokenAlgorithms: fc.subarray(['ES256', 'RS256'], { minLength: 1 }),
    tokenClientId: fc.constantFrom(...WORDS),
    tokenDpop: fc.boolean(),
    tokenMaxAge: fc.constantFrom(...AGES),
  }),
);

const pageProvider: fc.Arbitrary<PageProvider> = fc.oneof(
  fc.constant(NO_PAGE_PROVIDER),
  fc.record({ pageIssuer: fc.constantFrom(...WORDS), pageClientId: fc.constantFrom(...WORDS) }),
);

const limits = madeUpLimits({
  usd: ['0', '1', '2.5', '10', '1000'],
  counts: [1, 2, 3, 4, 5],
  countries: WORDS,
  addresses: WORDS,
  origins: WORDS,
});

const permissions = fc.record({
  scopes: fc.uniqueArray(fc.constantFrom(...SCOPES), { minLength: 1 }),
  operations: maybe(fc.uniqueArray(fc.constantFrom(...WORDS), { minLength: 1 })),
});

const grants: fc.Arbitrary<Grants> = fc
  .tuple(permissions, limits, tokenProvider, pageProvider)
  .map(([permissions, limits, token, page]) => ({ ...permissions, ...limits, ...token, ...page }));

/** Returns the people and tokens that a client's providers admit, as plain statements. */
function admissions(grants: Grants): Set<string> {
  const admitted: string[] = [];
  const { tokenIssuer, tokenAudience, tokenJwksUri, tokenAlgorithms, tokenClientId, tokenDpop, tokenMaxAge } =
    grants;
  if (tokenIssuer !== null) {
    const from = JSON.stringify([tokenIssuer, tokenAudience, tokenJwksUri, tokenAlgorithms, tokenClientId]);
    for (const kind of tokenDpop ? ['bound'] : ['bound', 'not bound'])
      for (const age of AGES.filter((each) => each <= tokenMaxAge))
        admitted.push(`tokens of ${from}, ${kind}, ${age} seconds old`);
  }
  const { pageIssuer, pageClientId } = grants;
  if (pageIssuer !== null) admitted.push(`people of ${JSON.stringify([pageIssuer, pageClientId])} on pages`);
  return new Set(admitted);
}

const providersOf = (grants: Grants) =>
  Object.fromEntries(PROVIDER_KEYS.map((key) => [key, grants[key]])) as unknown as Providers;

describe('expansions', () => {
  const nothing: Grants = { ...NO_LIMITS, ...NO_PROVIDERS, scopes: ['pay'], operations: null };

  // For all other permissions: test/limits/expanded-requests.full.spec.ts.
  it('reports a provider exactly if it admits more people', () => {
    fc.assert(
      fc.property(grants, grants, (before, after) => {
        const admittedBefore = admissions(before);
        const added = [...admissions(after)].filter((statement) => !admittedBefore.has(statement));
        const names = expansions({ ...after, ...providersOf(before) }, after);
        expect([names.length > 0, added]).toEqual([added.length > 0, added]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is empty for equal states, and transitive', () => {
    fc.assert(
      fc.property(grants, grants, grants, (first, second, third) => {
        expect(expansions(first, first)).toEqual([]);
        const steps = new Set([...expansions(first, second), ...expansions(second, third)]);
        expect(expansions(first, third).filter((name) => !steps.has(name))).toEqual([]);
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
    [{ scopes: ['read'] }, { scopes: ['read', 'write', 'audit'] }, ['scopes']],
    [{ scopes: ['read'] }, { scopes: ['pay', 'account'], maxItems: 3 }, ['scopes']],
    [{ maxItems: 3, requireIdempotencyKey: true }, {}, ['max_items', 'require_idempotency_key']],
    [{ tokenIssuer: 'a', tokenDpop: false }, { tokenIssuer: 'a', tokenDpop: true }, []],
    [{ tokenIssuer: 'a', tokenDpop: true }, { tokenIssuer: 'a', tokenDpop: false }, ['token_dpop']],
    [{ tokenIssuer: 'a', tokenMaxAge: 60 }, { tokenIssuer: 'a', tokenMaxAge: 61 }, ['token_max_age']],
    [{ tokenIssuer: 'a', tokenMaxAge: 61 }, { tokenIssuer: 'a', tokenMaxAge: 60 }, []],
    [{ tokenIssuer: 'a' }, { tokenIssuer: 'b' }, ['token_issuer']],
    [{ tokenIssuer: 'a' }, {}, []],
    [{}, { pageIssuer: 'a', pageClientId: 'b' }, ['page_issuer', 'page_client_id']],
    [{ pageIssuer: 'a', pageClientId: 'b' }, { pageIssuer: 'a', pageClientId: 'c' }, ['page_client_id']],
    [{ pageIssuer: 'a', pageClientId: 'b' }, {}, []],
  ])('compares %j with %j', (before, after, expanded) => {
    expect(expansions({ ...nothing, ...before }, { ...nothing, ...after })).toEqual(expanded);
  });
});
