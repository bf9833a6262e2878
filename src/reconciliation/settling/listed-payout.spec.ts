import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Decimal } from 'decimal.js';
import { VOCABULARY } from '../../../test/support/reconciliation/generated-doubts';
import { LedgerItem, Posting } from '../../journal/settlement/ledger';
import { CREATED_BY } from '../../operations/items/effects';
import { Entry, entryOf, Source } from '../../operations/lifecycle/settlement';
import { changesOf, IGNORE_RULES, ListedPayout } from './listed-payout';

const CREATED = CREATED_BY.get('POST /payouts/airtime')!;
const transaction = (status: string) => ({
  upstream_ref: 'ref',
  upstream_id: null,
  batch_ref: null,
  at: null,
  status,
});

function itemIn(entry: Entry, source: Source, word: string): LedgerItem {
  const posting = {
    entry,
    from: 'reserved',
    to: 'recipient',
    amountUsd: null,
    status: word,
    source,
    at: new Date(0),
  };
  return {
    position: 0,
    amountUsd: new Decimal(5),
    entry,
    feeUsd: new Decimal(0),
    expectedFeeUsd: new Decimal(0),
    transaction: transaction(word),
    reason: null,
    postings: [posting as Posting],
  };
}

const listedAs = (word: string, fee: number | null = null): ListedPayout => ({
  position: 0,
  meaning: VOCABULARY.statusOf(word),
  feeUsd: fee === null ? null : new Decimal(fee),
  transaction: transaction(word),
});

/** For each exception: a payout, a word that changes nothing about it, and a word that does. */
const SCENARIOS: Record<string, [item: LedgerItem, word: string, news: string]> = {
  'nothing new': [itemIn('paid', 'answer', 'paid'), 'Completed', 'reversed'],
  'an unknown status': [itemIn('paid', 'answer', 'paid'), 'ON_HOLD', 'failed'],
  'an older status': [itemIn('paid', 'poll', 'paid'), 'pending', 'refunded'],
  'settled by a person': [itemIn('failed', 'person', 'paid'), 'paid', 'refunded'],
};

describe('the exceptions from settling by a listing', () => {
  it.each(IGNORE_RULES.map((rule) => [rule.name, rule] as const))('include "%s"', (name, rule) => {
    const [item, word, news] = SCENARIOS[name]!;
    const listed = listedAs(word);
    const holding = IGNORE_RULES.filter(({ holds }) => holds(item, listed, entryOf(listed.meaning, CREATED)));
    expect(holding).toEqual([rule]);
    expect(changesOf(item, listed, CREATED)).toEqual([]);
    expect(changesOf(item, listedAs(news), CREATED)).toMatchObject([{ entry: news }]);
    const fee = { entry: 'fee', amountUsd: new Decimal(0.5) };
    expect(changesOf(item, listedAs(word, 0.5), CREATED)).toMatchObject([fee]);
  });

  it('are documented in the same order', () => {
    const page = readFileSync(join(__dirname, '../../../docs/reconciliation/settlement.md'), 'utf8');
    const [, table = ''] = /\n\| exception \|.*\n.*\n((?:\|.*\n)+)/.exec(page) ?? [];
    const names = table.split('\n').flatMap((row) => row.split(' | ')[0]?.slice(2) || []);
    expect(names).toEqual(IGNORE_RULES.map(({ name }) => name));
    expect(Object.keys(SCENARIOS)).toEqual(names);
  });
});
