import { v7 as uuidv7 } from 'uuid';
import { COUNTED, ENTRIES, Entry } from '../../../src/operations/lifecycle/settlement';
import { Ours, writeOurs } from '../../support/reconciliation/comparison';
import {
  at,
  database,
  day,
  latest,
  listed,
  OLD,
  run,
  useDatabase,
} from '../../support/reconciliation/listing-scene';
import { insertSettlements } from '../../support/records/documents';

const RECORDED: Entry[] = [
  'paid',
  'pending',
  'failed',
  'expired',
  'reversed',
  'refunded',
  'not_executed',
  'in_doubt',
];
const MOVED = COUNTED.filter((entry) => ENTRIES[entry].known);

/** Ways in which our records state the entry of a payout, beside another payout of the call that is paid. */
type Way =
  | 'one text of the answer'
  | 'a list of the answer'
  | 'a settlement'
  | 'the second of two settlements';
const WAYS: Way[] = [
  'one text of the answer',
  'a list of the answer',
  'a settlement',
  'the second of two settlements',
];

/** Writes a call of two payouts of 10, both with this entry if the answer has one text. */
async function recorded(entry: Entry, way: Way): Promise<string> {
  const call_id = uuidv7({ msecs: day + 10_000 });
  const payout = (upstream_ref: string, stated: Entry): Ours => ({
    call_id,
    operation: 'POST /payouts/credit',
    at: at(10),
    kind: stated === 'in_doubt' ? 'unknown' : 'succeeded',
    usd: '10',
    email: `${upstream_ref}@example.com`,
    upstream_ref,
    entry: stated,
  });
  const isAnswer = way.endsWith('answer');
  const other = way === 'one text of the answer' ? entry : 'paid';
  await writeOurs(database, [payout('a', isAnswer ? entry : 'paid'), payout('b', other)]);
  const settlement = (number: number, stated: Entry) => ({
    intent_id: call_id,
    number,
    resolution: undefined,
    recorded_at: at(60 * number),
    entries: [
      { position: 0, entry: stated, from: 'recipient', to: ENTRIES[stated].account, upstream_ref: 'a' },
    ],
  });
  const settlements: Record<Way, Entry[]> = {
    'one text of the answer': [],
    'a list of the answer': [],
    'a settlement': [entry],
    'the second of two settlements': ['pending', entry],
  };
  await insertSettlements(
    database,
    settlements[way].map((stated, earlier) => settlement(earlier + 1, stated)),
  );
  return call_id;
}

describe('the state of a payout in a run', () => {
  useDatabase('of all tests');

  describe.each(WAYS)('by %s', (way) => {
    it.each(RECORDED)('is %s, whatever its call is', async (entry) => {
      const call = await recorded(entry, way);
      const isOne = way === 'one text of the answer';
      const isMoved = MOVED.includes(entry);
      const rows = (status: string | null) => [
        OLD(),
        ...(status === null ? [] : [listed('a', 11, { status })]),
        ...(status !== null || !isOne
          ? [listed('b', 11, { status: isOne ? (status ?? 'paid') : 'paid' })]
          : []),
      ];
      const found = (category: string, usd: number) => [
        `${category} call/${call}/0 ${usd}`,
        ...(isOne ? [`${category} call/${call}/1 ${usd}`] : []),
      ];
      const agreed = entry === 'in_doubt' ? 'clean_with_doubts' : 'clean';
      const expected = {
        paid: isMoved ? ['clean', []] : ['findings', found('status', 10)],
        failed: isMoved ? ['findings', found('status', -10)] : [agreed, []],
        unlisted: isMoved ? ['findings', found('missing_upstream', -10)] : [agreed, []],
      };
      const results = async (status: string | null) => {
        const [result, , lines] = await run(rows(status));
        return [result, lines];
      };
      expect(await results('paid')).toEqual(expected.paid);
      expect(await results('failed')).toEqual(expected.failed);
      expect(await results(null)).toEqual(expected.unlisted);
      expect(latest.in_doubt.count).toBe(entry === 'in_doubt' ? (isOne ? 2 : 1) : 0);
    });
  });

  it('is that of the instant of the run', async () => {
    const call = await recorded('failed', 'the second of two settlements');
    const rows = [OLD(), listed('a', 11, { status: 'failed' }), listed('b', 11)];
    const before = { asOf: new Date(day + 119_000), historical: true };
    expect((await run(rows, before))[2]).toEqual([`status call/${call}/0 -10`]);
    expect(await run(rows)).toEqual(['clean', [], []]);
  });

  it('is stated in the finding, beside the outcome of its call', async () => {
    await recorded('failed', 'one text of the answer');
    await run([OLD(), listed('a', 11), listed('b', 11, { status: 'failed' })]);
    const [sight] = await database.query(
      'SELECT fields, evidence -> $1 AS ours FROM finding_sight ORDER BY run_id DESC LIMIT 1',
      ['ours'],
    );
    expect(sight).toMatchObject({
      fields: [{ field: 'status', ours: 'failed', theirs: 'paid' }],
      ours: { outcome: 'succeeded', state: 'failed' },
    });
  });
});
