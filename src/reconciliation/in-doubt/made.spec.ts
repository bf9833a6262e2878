import type * as FileSystem from 'node:fs';
import { at, RULES, toSent } from '../../../test/support/made-up-doubts';
import { OperationRow, OPERATIONS } from '../../operations/operations';
import type * as ForwardingOperations from '../../operations/operations';
import { judgeChange } from './changed';
import { Lookup, Seen } from './calls-in-doubt';
import { Issues, Listing } from './issues';
import { CHANGED, MADE, SETTLED_OPERATIONS } from './made';
import { atOnce } from './work';

const EXAMPLE = 'POST /redeem/gift-card';

// The table of operations has one more row: the one that CONTRIBUTING.md shows whoever adds an operation.
jest.mock<typeof ForwardingOperations>('../../operations/operations', () => {
  const actual = jest.requireActual<typeof ForwardingOperations>('../../operations/operations');
  const text = jest.requireActual<typeof FileSystem>('node:fs').readFileSync('CONTRIBUTING.md', 'utf8');
  const [, name = '', fields = ''] = /^ *'(POST \/redeem\/gift-card)': \{(.*)\},$/m.exec(text) ?? [];
  const row = [...fields.matchAll(/(\w+): '([^']*)'/g)].map(([, field, value]) => [field, value] as const);
  return { ...actual, OPERATIONS: { ...actual.OPERATIONS, [name]: Object.fromEntries(row) } };
});

describe('what operations make and change', () => {
  const listing: Listing = {
    readId: 'read',
    askedAt: at(900),
    missing: 0,
    oldest: at(-1),
    freshUntil: new Map([['credit' as const, at(899)]]),
    unclaimed: atOnce(Issues.of([])),
  };
  const doubt = { ...toSent(0, [[1, 1]], 0), operation: EXAMPLE };

  it('knows all operations that pay or write, and looks at their calls in doubt', () => {
    const changing = Object.entries<OperationRow>(OPERATIONS).filter(([, { effect }]) => effect !== 'read');
    expect(SETTLED_OPERATIONS).toEqual(changing.map(([name]) => name));
    const known = changing.filter(([name, { leaves }]) => MADE.has(name) || CHANGED.has(name) || leaves === 'nothing');
    expect(known).toHaveLength(changing.length);
  });

  it('gives calls in doubt of an operation that was added as CONTRIBUTING.md says a verdict', () => {
    expect(Object.entries<OperationRow>(OPERATIONS).find(([name]) => name === EXAMPLE)?.[1].effect).toBe('write');
    expect(SETTLED_OPERATIONS).toContain(EXAMPLE);
    const seen = { status: 'paid', amountUsd: null, names: [], references: [] } as unknown as Seen;
    const lookup: Lookup = { readId: 'one', askedAt: at(900), madeBy: 'POST /payouts/credit', seen };
    expect(judgeChange(doubt, lookup, listing, [], RULES)?.verdict).toBe('not_executed');
    const redeemed = { ...lookup, seen: { ...seen, status: 'redeemed' } };
    expect(judgeChange(doubt, redeemed, listing, [], RULES)?.verdict).toBe('ambiguous');
  });

  it('takes a listing for fresh by the kind of transaction that a call changes only', () => {
    const seen = { status: 'paid', amountUsd: null, names: [], references: [] } as unknown as Seen;
    const ofLink: Lookup = { readId: 'one', askedAt: at(900), madeBy: 'POST /send', seen };
    expect(judgeChange(doubt, ofLink, listing, [], RULES)?.verdict).toBe('ambiguous');
    expect(judgeChange(doubt, { ...ofLink, madeBy: null }, listing, [], RULES)?.verdict).toBe('ambiguous');
  });
});
