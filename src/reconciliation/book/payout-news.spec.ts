import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Decimal } from 'decimal.js';
import { VOCABULARY } from '../../../test/support/reconciliation/generated-doubts';
import { LedgerItem, Posting } from '../../journal/settlement/ledger';
import { CREATED_BY } from '../../operations/items/effects';
import { Entry, entryOf, Source } from '../../operations/lifecycle/settlement';
import { entriesBy, IGNORE_RULES, PayoutNews } from './payout-news';

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

const newsOf = (word: string, fee: string | null = null): PayoutNews => ({
  callId: 'call',
  position: 0,
  id: 'transaction',
  ground: null,
  readId: 'read',
  ordinal: '0',
  status: word,
  amount: '5',
  fee,
  transaction: transaction(word),
});

/** Returns the entries of a payout by this word. */
const entriesAfter = (item: LedgerItem, word: string, more: Partial<PayoutNews> = {}) =>
  entriesBy(item, { ...newsOf(word), ...more }, entryOf(VOCABULARY.statusOf(word), CREATED));

/** For each exception: a payout, a word that changes nothing about it, and a word that does. */
const SCENARIOS: Record<string, [item: LedgerItem, word: string, news: string]> = {
  'nothing new': [itemIn('paid', 'answer', 'paid'), 'Completed', 'reversed'],
  'an unknown status': [itemIn('paid', 'answer', 'paid'), 'ON_HOLD', 'failed'],
  'an older status': [itemIn('paid', 'poll', 'paid'), 'pending', 'refunded'],
  'settled by a person': [itemIn('failed', 'person', 'paid'), 'paid', 'refunded'],
};

describe('the exceptions from settling by a listed status', () => {
  it.each(IGNORE_RULES.map((rule) => [rule.name, rule] as const))('include "%s"', (name, rule) => {
    const [item, word, news] = SCENARIOS[name]!;
    const entry = entryOf(VOCABULARY.statusOf(word), CREATED);
    const holding = IGNORE_RULES.filter(({ holds }) => holds(item, newsOf(word), entry));
    expect(holding).toEqual([rule]);
    expect(entriesAfter(item, word)).toEqual([]);
    expect(entriesAfter(item, news)).toMatchObject([{ entry: news }]);
    const fee = { entry: 'fee', amountUsd: new Decimal(0.5) };
    expect(entriesAfter(item, word, { fee: '0.5' })).toMatchObject([fee]);
  });

  it('record a transaction that is new, though its status is not', () => {
    const [item, word] = SCENARIOS['nothing new']!;
    const found = { entry: 'paid', transaction: { upstream_ref: 'ref' } };
    expect(entriesAfter(item, word, { ground: 'fingerprint' })).toMatchObject([found]);
    const denied = itemIn('not_executed', 'resolver', 'none');
    expect(entriesAfter(denied, 'pending', { ground: 'fingerprint' })).toMatchObject([{ entry: 'pending' }]);
  });

  it('are documented in the same order', () => {
    const page = readFileSync(join(__dirname, '../../../docs/reconciliation/settlement.md'), 'utf8');
    const [, table = ''] = /\n\| exception \|.*\n.*\n((?:\|.*\n)+)/.exec(page) ?? [];
    const names = table.split('\n').flatMap((row) => row.split(' | ')[0]?.slice(2) || []);
    expect(names).toEqual(IGNORE_RULES.map(({ name }) => name));
    expect(Object.keys(SCENARIOS)).toEqual(names);
  });
});
