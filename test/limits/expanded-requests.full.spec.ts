import * as fc from 'fast-check';
import { Grants } from '../../src/access/clients/grants';
import { NO_LIMITS } from '../../src/access/clients/limits/limits';
import { NO_GRANTS, expansions } from '../../src/access/dual-control/expansion';
import { describeRoutes } from '../../src/cli/api-document';
import { OPERATION_NAMES } from '../../src/operations/catalogue/catalogue';
import { Scope, SCOPES } from '../../src/operations/catalogue/scopes';
import { runs } from '../support/examples/runs';
import {
  Asked,
  BLOCKS,
  COUNTRIES,
  isAllowed,
  ORDINARY,
  ORIGINS,
  USD,
  VARIATIONS,
} from '../support/payments/allowed-requests';
import { madeUpLimits, maybe } from '../support/payments/made-up-limits';

const limits = madeUpLimits({
  usd: USD,
  counts: [1, 2, 3],
  countries: COUNTRIES,
  addresses: BLOCKS,
  origins: ORIGINS,
});

const grants: fc.Arbitrary<Grants> = fc
  .record({
    scopes: fc.uniqueArray(fc.constantFrom(...SCOPES)),
    operations: maybe(fc.uniqueArray(fc.constantFrom(...OPERATION_NAMES), { minLength: 1 })),
    limits,
  })
  .map(({ limits: limited, ...granted }) => ({ ...NO_GRANTS, ...limited, ...granted }));

describe('a change under dual control', () => {
  const everything: Grants = { ...NO_GRANTS, ...NO_LIMITS, scopes: [...SCOPES] };
  let probes: Asked[];
  let request: fc.Arbitrary<Asked>;

  beforeAll(async () => {
    const routes = (await describeRoutes()).filter(
      ({ path, scopes, needsAll }) => path.startsWith('v1/') && !needsAll && !scopes.includes('everyone'),
    );
    const lists = new Map(routes.map(({ scopes }) => [scopes.join(), scopes as Scope[]]));
    const variations = { ...VARIATIONS, opens: [...VARIATIONS.opens, ...lists.values()] };
    probes = Object.entries(variations).flatMap(([field, values]) =>
      values.map((value) => ({ ...ORDINARY, [field]: value })),
    );
    const arbitraries = Object.entries(variations).map(([field, values]) => [
      field,
      fc.constantFrom<unknown>(...values),
    ]);
    request = fc.record(
      Object.fromEntries(arbitraries) as { [field in keyof Asked]: fc.Arbitrary<Asked[field]> },
    );
  });

  /** What a permission applies to, where that is not everything. */
  const applying: { [name in keyof Grants]?: Partial<Grants> } = {
    beneficiaryCoolOffSeconds: { beneficiariesOnly: true },
  };

  /** The permissions that each open something, while all others allow everything. */
  const opened = (before: Grants, after: Grants) =>
    (Object.keys(before) as (keyof Grants)[]).filter((name) => {
      if (JSON.stringify(before[name]) === JSON.stringify(after[name])) return false;
      const alone = (state: Grants): Grants => ({ ...everything, ...applying[name], [name]: state[name] });
      // Each scope is a permission of its own.
      const isNew = (scope: Scope) => after.scopes.includes(scope) && !before.scopes.includes(scope);
      const withoutNew = { ...everything, scopes: SCOPES.filter((scope) => !isNew(scope)) };
      const [was, is] = name === 'scopes' ? [withoutNew, everything] : [alone(before), alone(after)];
      return probes.some((probe) => isAllowed(is, probe) && !isAllowed(was, probe));
    });

  it('waits exactly if a permission allows a previously refused request', () => {
    fc.assert(
      fc.property(grants, grants, (before, after) => {
        const names = opened(before, after);
        expect([expansions(before, after).length, names]).toEqual([names.length, names]);
      }),
      { numRuns: runs(15) },
    );
  });

  it.each(SCOPES)('waits for the scope %s alone, which permits new requests', (scope) => {
    const before: Grants = { ...everything, scopes: SCOPES.filter((other) => other !== scope) };
    expect([expansions(before, everything), opened(before, everything)]).toEqual([['scopes'], ['scopes']]);
  });

  it('waits if it allows any previously refused request, whatever else it narrows', () => {
    fc.assert(
      fc.property(grants, grants, request, (before, after, asked) => {
        fc.pre(isAllowed(after, asked) && !isAllowed(before, asked));
        expect(expansions(before, after)).not.toEqual([]);
      }),
      { numRuns: runs(100), maxSkipsPerRun: 1_000 },
    );
  });

  it('waits for a new client exactly if that client may send any request', () => {
    fc.assert(
      fc.property(grants, (after) => {
        const isAny = probes.some((probe) => isAllowed({ ...everything, scopes: after.scopes }, probe));
        expect(expansions(NO_GRANTS, { ...NO_GRANTS, ...after, origins: [] }).includes('scopes')).toBe(isAny);
      }),
      { numRuns: runs(50) },
    );
  });

  it.each(SCOPES)('is tested with a request that only %s permits', (scope) => {
    const others = { ...everything, scopes: SCOPES.filter((one) => one !== scope) };
    expect(probes.some((probe) => isAllowed(everything, probe) && !isAllowed(others, probe))).toBe(true);
  });
});
