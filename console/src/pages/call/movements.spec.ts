import type { CallStory, RecordItem } from '../../api/generated/schema';
import { movementsOf } from './movements';

const story = (changes: object = {}) =>
  ({
    timings: { recorded_at: 'recorded', outcome_recorded_at: 'answered' },
    approval: null,
    settlements: [],
    ...changes,
  }) as unknown as CallStory;
const item = (state: string | null, fee_usd: string | null = null) =>
  ({ position: 1, amount_usd: '4', state, fee_usd }) as RecordItem;
const settlement = (...entries: object[]) => ({
  entries: entries.map((entry) => ({ position: 1, amount_usd: '4', source: 'poll', at: 'later', ...entry })),
});
const short = (told: CallStory, one: RecordItem) =>
  movementsOf(told, one).map(({ entry, from, to }) => `${entry}: ${from} > ${to}`);

describe('the ledger of a payout', () => {
  it('ends with the answer if nothing was settled later', () => {
    expect(short(story(), item('paid'))).toEqual(['reserved: available > reserved', 'paid: reserved > recipient']);
    expect(short(story(), item('in_doubt'))).toEqual(['reserved: available > reserved']);
    expect(short(story(), item(null))).toEqual([]);
  });

  it('begins with the approval of a held call', () => {
    expect(movementsOf(story({ approval: { status: 'pending' } }), item('held'))).toEqual([]);
    const approved = story({ approval: { status: 'approved', decided_at: 'approved' } });
    expect(movementsOf(approved, item('reserved'))).toMatchObject([{ entry: 'reserved', at: 'approved' }]);
  });

  it('has the settlements of this payout, oldest first', () => {
    const told = story({
      settlements: [
        settlement({ entry: 'paid', from: 'available', to: 'recipient' }),
        settlement(
          { entry: 'reversed', from: 'recipient', to: 'available' },
          { position: 0, entry: 'failed', from: 'recipient', to: 'available' },
        ),
      ],
    });
    expect(short(told, item('paid'))).toEqual([
      'reserved: available > reserved',
      'paid: reserved > recipient',
      'reversed: recipient > available',
      'paid: available > recipient',
    ]);
    expect(movementsOf(told, item('paid')).at(-1)).toMatchObject({ source: 'poll', at: 'later' });
  });

  it('has the fee of the answer, without what was charged later', () => {
    const later = settlement({ entry: 'fee', from: 'available', to: 'fees', amount_usd: '0.1' });
    expect(movementsOf(story({ settlements: [later] }), item('paid', '0.3')).slice(2)).toMatchObject([
      { entry: 'fee', amount_usd: '0.2', source: 'answer' },
      { entry: 'fee', amount_usd: '0.1', source: 'poll' },
    ]);
  });
});
