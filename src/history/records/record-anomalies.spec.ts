import { Prisma } from '../../platform/database/generated/client';
import { commitment } from '../../journal/commitment';
import { Facts, anomaliesOf } from './record-anomalies';

const ID = '019a9c39-53b1-7069-a17f-af1e8cacb634';
const SALT = Buffer.from('salt');
const BODY = Buffer.from('{"airtimes":[]}');
const COMMITTED = commitment(SALT, BODY);
const PHONE = '+2348012345678';
const usd = (amount: string) => new Prisma.Decimal(amount);
const person = (phone = PHONE) => ({ salt: SALT, email: null, phone, handle: null });

const item = (more: object = {}) => ({
  position: 0,
  amountUsd: usd('2.5'),
  recipient: person(),
  emailCommitment: null,
  phoneCommitment: commitment(SALT, PHONE),
  handleCommitment: null,
  ...more,
});
const paid = (more: object = {}) => ({ ordinal: 0, position: 0, amountUsd: usd('2.50'), ...more });
const outcome = (more: object = {}) => ({
  kind: 'succeeded',
  items: [paid()],
  bodyCommitment: COMMITTED,
  body: { salt: SALT, body: BODY },
  ...more,
});

/** A payout of one item that succeeded, or what a test makes of it. */
function found(intent: object = {}, more: Partial<Facts> = {}): [string, number | null][] {
  const sound = {
    id: ID,
    operation: 'POST /payouts/airtime',
    itemCount: 1,
    totalUsd: usd('2.5'),
    heldFor: null,
    bodyCommitment: COMMITTED,
    body: { salt: SALT, body: BODY },
    items: [item()],
    outcome: outcome(),
    decision: null,
    resolution: null,
  };
  const facts = { intent: { ...sound, ...intent }, refused: false, gone: new Set(), ...more } as unknown as Facts;
  return anomaliesOf(facts).map(({ code, position }) => [code, position]);
}
const CALL = null;
const HELD = { heldFor: 'over_threshold' };

describe('anomaliesOf', () => {
  it.each<[string, object]>([
    ['a success', {}],
    ['a call without an answer yet', { outcome: null }],
    ['one that waits', { ...HELD, outcome: null }],
    ['one that was approved', { ...HELD, decision: { kind: 'approved', bodyCommitment: COMMITTED } }],
    ['one that was approved and stopped', { ...HELD, outcome: outcome({ kind: 'not_sent' }) }],
    ['one settled as carried out that was', { resolution: { outcome: 'confirmed' } }],
    [
      'one in doubt that was settled',
      { outcome: outcome({ kind: 'unknown' }), resolution: { outcome: 'not_executed' } },
    ],
    ['a read that another one answered', { outcome: outcome({ body: null, bodyCommitment: null }) }],
    ['a success that is no payout', { operation: 'POST /account/transfer', outcome: outcome({ items: [] }) }],
    ['amounts that are not named', { totalUsd: null, items: [item({ amountUsd: null })] }],
  ])('finds nothing in %s', (_what, intent) => expect(found(intent)).toEqual([]));

  it.each<[string, number | null, object]>([
    ['success_after_not_executed', CALL, { resolution: { outcome: 'not_executed' } }],
    [
      'rejected_after_confirmed',
      CALL,
      { outcome: outcome({ kind: 'rejected' }), resolution: { outcome: 'confirmed' } },
    ],
    ['sent_without_approval', CALL, HELD],
    ['sent_without_approval', CALL, { ...HELD, decision: { kind: 'rejected', bodyCommitment: COMMITTED } }],
    ['approved_other_content', CALL, { ...HELD, decision: { kind: 'approved', bodyCommitment: SALT } }],
    ['approved_other_content', CALL, { ...HELD, decision: { kind: 'approved', bodyCommitment: null } }],
    ['amount_differs', 0, { outcome: outcome({ items: [paid({ amountUsd: usd('2.500001') })] }) }],
    ['amount_differs', 0, { outcome: outcome({ items: [paid({ position: null, amountUsd: usd('2.4') })] }) }],
    ['item_without_transaction', 0, { outcome: outcome({ items: [] }) }],
    ['transaction_without_item', CALL, { outcome: outcome({ items: [paid(), paid({ ordinal: 1, position: null })] }) }],
    ['items_incomplete', CALL, { itemCount: 2 }],
    ['items_incomplete', CALL, { totalUsd: usd('2.6') }],
    ['request_body_changed', CALL, { body: { salt: SALT, body: Buffer.from('{"airtimes":[1]}') } }],
    ['request_body_missing', CALL, { body: null }],
    ['response_body_changed', CALL, { outcome: outcome({ body: { salt: BODY, body: BODY } }) }],
    ['response_body_missing', CALL, { outcome: outcome({ body: null }) }],
    ['recipient_changed', 0, { items: [item({ recipient: person('+2348012345679') })] }],
    ['recipient_changed', 0, { items: [item({ recipient: { ...person(), email: 'ada@example.com' } })] }],
    ['recipient_missing', 0, { items: [item({ recipient: null })] }],
  ])('finds %s for item %s', (code, position, intent) => expect(found(intent)).toEqual([[code, position]]));

  it('reports that a refused call was sent', () => {
    expect(found({}, { refused: true })).toEqual([['sent_though_refused', CALL]]);
    expect(found({ outcome: null }, { refused: true })).toEqual([]);
  });

  it('tells removed data from missing data', () => {
    const gone = new Set([`intent_body/${ID}`, `outcome_body/${ID}`, `item_recipient/${ID}/0`]);
    const emptied = { body: null, outcome: outcome({ body: null }), items: [item({ recipient: null })] };
    expect(found(emptied, { gone })).toEqual([
      ['request_body_erased', CALL],
      ['response_body_erased', CALL],
      ['recipient_erased', 0],
    ]);
    expect(found({}, { gone })).toEqual([]);
    expect(found({ body: { salt: SALT, body: SALT } }, { gone })).toEqual([['request_body_changed', CALL]]);
  });
});
