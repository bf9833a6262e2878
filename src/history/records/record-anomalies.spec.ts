import {
  IntentDocument,
  ItemDocument,
  OutcomeDocument,
  TransactionDocument,
} from '../../journal/records/documents';
import { recipientsCommitment } from '../../journal/records/recipients';
import { commitment } from '../../platform/privacy/commitment';
import { AnomalyContext, anomaliesOf } from './record-anomalies';
import { FullStoredCall } from './rows';

const ID = '019a9c39-53b1-7069-a17f-af1e8cacb634';
const PERSON_ID = '019a9c39-53b1-7069-a17f-af1e8cacb635';
const SALT = Buffer.from('0123456789abcdef');
const BODY = { salt: SALT, body: Buffer.from('{"airtimes":[]}') };
const COMMITTED = commitment(SALT, BODY.body);
const PHONE = '+2348012345678';
const person = (phone = PHONE) => ({ position: 0, salt: SALT.toString('hex'), phone });
const RECIPIENTS = { people: [person()], peopleSalt: null };

const ERASED = { position: 0, phone_commitment: commitment(SALT, PHONE).toString('hex') };

const item = (more: Partial<ItemDocument> = {}): ItemDocument => ({ amount_usd: '2.5', ...more });
const paid = (more: Partial<TransactionDocument> = {}): TransactionDocument => ({
  position: 0,
  amount_usd: '2.50',
  ...more,
});
const outcome = (more: Partial<OutcomeDocument> = {}) => ({
  kind: 'succeeded',
  items: [paid()],
  body_commitment: COMMITTED.toString('hex'),
  ...more,
});

/** Records of a successful payout with one item, and the changes of a test. */
function found(
  { intent, ...call }: CallChanges = {},
  more: Partial<AnomalyContext> = {},
): [string, number | null][] {
  const sound = {
    id: ID,
    operation: 'POST /payouts/airtime',
    item_count: 1,
    total_usd: '2.5',
    body_commitment: COMMITTED.toString('hex'),
    idempotency_key_commitment: commitment(SALT, 'order-17')?.toString('hex'),
    person_id: PERSON_ID,
    actor_commitment: commitment(SALT, 'user-17')?.toString('hex'),
    recipients_commitment: recipientsCommitment(ID, RECIPIENTS)?.toString('hex'),
    items: [item()],
  };
  const made = {
    intent: { ...sound, ...intent },
    ...RECIPIENTS,
    person: { name: 'user-17', salt: SALT },
    key: { salt: SALT, text: 'order-17' },
    outcome: outcome(),
    body: BODY,
    answer: BODY,
    decision: null,
    settlements: [],
    payouts: [],
    ...call,
  };
  const facts = { call: made, refused: false, gone: new Set(), ...more } as unknown as AnomalyContext;
  return anomaliesOf(facts).map(({ code, position }) => [code, position]);
}
const CALL = null;
const HELD = { intent: { held_for: 'over_threshold' } };
/** Parts of a call that a test changes. */
type CallChanges = { intent?: Partial<IntentDocument> } & Partial<Record<keyof FullStoredCall, unknown>>;

describe('anomaliesOf', () => {
  it.each<[string, CallChanges]>([
    ['a success', {}],
    ['a call without an answer yet', { outcome: null }],
    ['one that waits', { ...HELD, outcome: null }],
    ['one that was approved', { ...HELD, decision: { kind: 'approved', bodyCommitment: COMMITTED } }],
    ['one that was approved and stopped', { ...HELD, outcome: outcome({ kind: 'not_sent' }) }],
    ['one settled as carried out that was', { settlements: [{ resolution: 'confirmed' }] }],
    [
      'one in doubt that was settled',
      { outcome: outcome({ kind: 'unknown' }), settlements: [{ resolution: 'not_executed' }] },
    ],
    ['a read that another one answered', { answer: null, outcome: outcome({ body_commitment: undefined }) }],
    [
      'a success that is no payout',
      { intent: { operation: 'POST /account/transfer' }, outcome: outcome({ items: undefined }) },
    ],
    [
      'a call without an idempotency key, or with one in its record',
      { intent: { idempotency_key_commitment: undefined }, key: null },
    ],
    [
      'a call without a known person, or restored from a copy',
      { intent: { actor_commitment: undefined }, person: { name: null, salt: null } },
    ],
    [
      'amounts that are not named',
      { intent: { total_usd: undefined, items: [item({ amount_usd: undefined })] } },
    ],
  ])('finds nothing in %s', (_what, call) => expect(found(call)).toEqual([]));

  it.each<[string, number | null, CallChanges]>([
    [
      'success_after_not_executed',
      CALL,
      { settlements: [{ resolution: 'not_executed' }, { resolution: 'confirmed' }] },
    ],
    ['sent_without_approval', CALL, HELD],
    ['sent_without_approval', CALL, { ...HELD, decision: { kind: 'rejected', bodyCommitment: COMMITTED } }],
    ['approved_other_content', CALL, { ...HELD, decision: { kind: 'approved', bodyCommitment: SALT } }],
    ['approved_other_content', CALL, { ...HELD, decision: { kind: 'approved', bodyCommitment: null } }],
    ['amount_differs', 0, { outcome: outcome({ items: [paid({ amount_usd: '2.500001' })] }) }],
    [
      'amount_differs',
      0,
      { outcome: outcome({ items: [paid({ position: undefined, amount_usd: '2.4' })] }) },
    ],
    ['item_without_transaction', 0, { outcome: outcome({ items: undefined }) }],
    [
      'transaction_without_item',
      CALL,
      { outcome: outcome({ items: [paid(), paid({ position: undefined })] }) },
    ],
    ['items_incomplete', CALL, { intent: { item_count: 2 } }],
    ['items_incomplete', CALL, { intent: { total_usd: '2.6' } }],
    ['request_body_changed', CALL, { body: { salt: SALT, body: Buffer.from('{"airtimes":[1]}') } }],
    ['request_body_missing', CALL, { body: null }],
    ['response_body_changed', CALL, { answer: { ...BODY, salt: BODY.body } }],
    ['response_body_missing', CALL, { answer: null }],
    ['recipient_changed', CALL, { people: [person('+2348012345679')] }],
    ['recipient_changed', CALL, { people: [{ ...person(), email: 'ada@example.com' }] }],
    ['recipient_missing', CALL, { people: [] }],
    ['recipient_missing', 0, { people: [ERASED] }],
    ['idempotency_key_changed', CALL, { key: { salt: SALT, text: 'order-18' } }],
    ['idempotency_key_missing', CALL, { key: null }],
    ['actor_changed', CALL, { person: { name: 'user-18', salt: SALT } }],
    ['actor_changed', CALL, { person: { name: 'user-17', salt: BODY.body } }],
    ['actor_missing', CALL, { person: { name: null, salt: null } }],
  ])('finds %s for item %s', (code, position, call) => expect(found(call)).toEqual([[code, position]]));

  it('reports that a refused call was sent', () => {
    expect(found({}, { refused: true })).toEqual([['sent_though_refused', CALL]]);
    expect(found({ outcome: null }, { refused: true })).toEqual([]);
  });

  it('tells removed data from missing data', () => {
    const gone = new Set([
      `intent_body/${ID}`,
      `outcome_body/${ID}`,
      `idempotency_key/${ID}`,
      `item_recipient/${ID}/0`,
      `person/${PERSON_ID}`,
    ]);
    const emptied = {
      body: null,
      answer: null,
      people: [ERASED],
      key: null,
      person: { name: null, salt: null },
    };
    expect(found(emptied, { gone })).toEqual([
      ['request_body_erased', CALL],
      ['response_body_erased', CALL],
      ['idempotency_key_erased', CALL],
      ['actor_erased', CALL],
      ['recipient_erased', 0],
    ]);
    expect(found({}, { gone })).toEqual([]);
    expect(found({ person: { name: 'user-17', salt: BODY.body } }, { gone })).toEqual([
      ['actor_erased', CALL],
    ]);
    expect(found({ body: { salt: SALT, body: SALT } }, { gone })).toEqual([['request_body_changed', CALL]]);
  });
});
