import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Decimal } from 'decimal.js';
import {
  at,
  RULES,
  relatedTransaction,
  sentCall,
} from '../../../../test/support/reconciliation/generated-doubts';
import { CREATED_BY } from '../../../operations/items/effects';
import { WalletStatements } from '../wallet-statements';
import { Facts, factsOf, Listing } from './facts';
import { judge, VERDICT_RULES } from './verdict';

/** The smallest situation in which a rule decides. */
interface Scenario {
  /** Name of the scenario in the decision record. */
  title: string;
  /** Amounts of listed transactions to a recipient of the call. */
  related?: string[];
  listing?: Partial<Listing>;
  /** Rule that would decide without this one. Undefined if none would. */
  without?: string;
}

const ITEMS: [recipient: number, cents: number][] = [
  [1, 1],
  [2, 2],
];
const CALL = sentCall(0, ITEMS, 0);
/** End of the call's quiet period. */
const QUIET = 105;

/** Returns a wallet that was opened before the call, with a debit. */
function walletsWith({ debitAt }: { debitAt: number }): WalletStatements {
  const [ten, nine] = [new Decimal(10), new Decimal(9)];
  const entries = [
    { at: at(debitAt), before: ten, after: nine },
    { at: at(-900), before: new Decimal(0), after: ten },
  ];
  return new WalletStatements('wallets', [{ id: 'one', type: 'airtime', balance: nine, entries }], new Map());
}

const SCENARIOS: Record<string, Scenario> = {
  'too early': {
    title: 'nothing is listed a second before the quiet period ends',
    listing: { requestedAt: at(QUIET - 1) },
    without: 'not listed',
  },
  'related transactions': {
    title: 'a recipient of the call got another amount',
    related: ['0.011000'],
    without: 'not listed',
  },
  'listing cut off': {
    title: 'nothing is listed, and nothing older either',
    listing: { oldest: at(0) },
    without: 'not listed',
  },
  'listing incomplete': {
    title: 'nothing is listed, and another payout of ours is missing too',
    listing: { missing: 1 },
    without: 'not listed',
  },
  'listing too old': {
    title: 'nothing is listed, and no call of ours from after the quiet period either',
    listing: { freshUntil: new Map([['airtime', at(QUIET - 1)]]) },
    without: 'kind listed later',
  },
  'kind listed later': {
    title: 'only a link from after the quiet period is listed, no airtime, and a wallet has a debit',
    listing: { freshUntil: new Map([['link', at(899)]]), wallets: walletsWith({ debitAt: 1 }) },
    without: 'not listed',
  },
  'not listed': { title: 'nothing is listed, in a listing that is whole and recent' },
};

function factsIn(
  { related = [], listing = {} }: Scenario,
  call = CALL,
  unclear: Facts['unclear'] = [],
): Facts {
  const created = CREATED_BY.get(call.operation)!;
  const whole: Listing = {
    readId: 'read',
    requestedAt: at(900),
    missing: 0,
    freshUntil: new Map([['airtime', at(899)]]),
    oldest: at(-1),
    isOfNewAccount: false,
    ...listing,
  };
  return factsOf(call, created, whole, { unclear, related: related.map(relatedTransaction) }, RULES);
}

const DECISIONS = join(__dirname, '../../../../docs/internals/decisions');
const ADR = join(DECISIONS, 'upstream/0014-when-a-call-was-not-executed.md');

describe('the rules about a call in doubt', () => {
  it.each(VERDICT_RULES.map((rule) => [rule.name, rule] as const))('include "%s"', (name, rule) => {
    const { without, ...scenario } = SCENARIOS[name]!;
    const facts = factsIn(scenario);
    expect(VERDICT_RULES.find(({ holds }) => holds(facts))).toBe(rule);
    const others = VERDICT_RULES.filter((one) => one !== rule);
    const next = others.find(({ holds }) => holds(facts));
    expect(next?.name).toBe(without);
    expect(next?.reason(facts)).not.toBe(rule.reason(facts));
  });

  it('accept wallets without a debit since the call, with a later call of another kind', () => {
    const listing = { freshUntil: new Map([['link', at(899)]]), wallets: walletsWith({ debitAt: -60 }) };
    const facts = factsIn({ title: 'at night', listing });
    expect(VERDICT_RULES.find(({ holds }) => holds(facts))?.name).toBe('not listed');
  });

  it('need no later call after a plain rejection, but all other proof', () => {
    const withoutFreshness = VERDICT_RULES.map(({ name }) => {
      const facts = factsIn(SCENARIOS[name]!, { ...CALL, isRejected: true });
      const rule = VERDICT_RULES.find(({ holds }) => holds(facts))!.name;
      return rule === name ? [] : [name, rule];
    });
    expect(withoutFreshness.filter(({ length }) => length > 0)).toEqual([
      ['too early', 'not listed'], // its quiet period is shorter
      ['listing too old', 'not listed'],
      ['kind listed later', 'not listed'],
    ]);
  });

  it('accept the empty listing of an account that never had a transaction, after a plain rejection', () => {
    const listing = { oldest: null, freshUntil: new Map() };
    const decided = (isOfNewAccount: boolean, isRejected: boolean) => {
      const facts = factsIn(
        { title: 'empty', listing: { ...listing, isOfNewAccount } },
        { ...CALL, isRejected },
      );
      return VERDICT_RULES.find(({ holds }) => holds(facts))?.name;
    };
    expect(decided(true, true)).toBe('not listed');
    expect(decided(false, true)).toBe('listing cut off');
    expect(decided(true, false)).toBe('listing too old');
  });

  it('settle the payouts without a transaction, and leave one with an unknown status to a person', () => {
    const unclear = [{ ...relatedTransaction('0.01'), position: 0, isRefuted: false, status: 'ON_HOLD' }];
    const verdict = judge(factsIn({ title: 'one of two' }, CALL, unclear));
    expect(verdict).toMatchObject({
      verdict: 'ambiguous',
      reason: expect.stringContaining('"ON_HOLD"'),
      entries: [{ position: 1, entry: 'not_executed' }],
      evidence: { transactions: [{ position: 0, amount_usd: '0.01' }] },
    });
    expect(judge(factsIn({ title: 'unlike', related: ['0.5'] }, CALL, unclear))?.entries).toEqual([]);
    const whole = judge(factsIn({ title: 'none' }));
    expect(whole?.entries?.map(({ entry }) => entry)).toEqual(['not_executed', 'not_executed']);
  });

  it('each have a scenario and a row of the decision record, in the same order', () => {
    const rows = readFileSync(ADR, 'utf8').matchAll(/^\| \d+ \| (.*) \|$/gm);
    const cells = [...rows].map(([, row = '']) => row.split(' | '));
    const documented = cells.map(([name, , conclusion, , title]) => ({ name, conclusion, title }));
    const decided = VERDICT_RULES.map(({ name, concludes }) => ({
      name,
      conclusion: `\`${concludes}\``,
      title: SCENARIOS[name]?.title,
    }));
    expect(documented).toEqual(decided);
    expect(Object.keys(SCENARIOS)).toEqual(VERDICT_RULES.map(({ name }) => name));
  });
});
