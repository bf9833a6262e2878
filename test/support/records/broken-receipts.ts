import { signNote } from '../../../src/history/log/note';
import { all, put, putList, remove } from '../databases/damage';
import { clone, forger, ORIGIN, other, SALT, signer, TestReceipt } from './receipts';

const flip = (base64: string) => {
  const bytes = Buffer.from(base64, 'base64');
  bytes[7]! ^= 16;
  return bytes.toString('base64');
};

/** Changes to a valid receipt, with the reported fault. Without the log's key, no others are possible. */
export const BROKEN: [string, (receipt: TestReceipt, earlier: TestReceipt) => void, RegExp][] = [
  ['has a later format', put('format', 'payout-proxy/receipt/2'), /not a receipt of the format/],
  ['names no call', remove('call_id'), /call_id is missing/],
  ['names another call', put('call_id', other(0).id), /records\[0\] \(intent\) is a record of another call/],
  ['names no log', remove('log'), /does not name its log/],
  ['names another log', put('log/origin', 'other.example/log'), /checkpoint is of another log/],
  ['names another key', put('log/key', forger.verifierKey), /not signed by the log's key/],
  [
    'names a damaged key',
    put('log/key', (key: string) => key.replace('payouts', 'others')),
    /not a verifier key/,
  ],
  ['has no checkpoint', remove('checkpoint'), /no checkpoint/],
  [
    'has a checkpoint of another size',
    put('checkpoint', (note: string) => note.replace('\n11\n', '\n12\n')),
    /does not fit/,
  ],
  [
    'has an unsigned checkpoint',
    put('checkpoint', (note: string) => note.replace(/\u2014.*\n/, '')),
    /no signature/,
  ],
  [
    'has a renamed signature',
    put('checkpoint', (note: string) => note.replace(`\u2014 ${ORIGIN}`, '\u2014 other')),
    /not signed by/,
  ],
  ['has a truncated checkpoint', put('checkpoint', (note: string) => note.slice(0, -1)), /not a signed note/],
  [
    'has another note as checkpoint',
    put('checkpoint', signNote('hello\n', signer)),
    /signed text is no checkpoint/,
  ],
  [
    'has a checkpoint before its records',
    (it, earlier) => (it.checkpoint = earlier.checkpoint),
    /\(intent\) is not proved/,
  ],
  ['has no records', put('records', []), /proves nothing/],
  ['has null as a record', put('records/1', null), /records\[1\] has no kind/],
  ['lists a record twice', putList('records', (all) => [...all, clone(all[0])]), /same leaf twice/],
  [
    'has a record of another call',
    put('records/1/record/intent_id', other(4).id),
    /\(decision\) is a record of another/,
  ],
  [
    'omits the call of a record',
    remove('records/1/record/intent_id'),
    /\(decision\) is a record of another call/,
  ],
  ['mislabels a record', put('records/2/kind', 'settlement'), /records\[2\] \(settlement\) has another kind/],
  [
    'has another kind of record',
    all(put('records/2/kind', 'settlement'), put('records/2/record/table', 'settlement')),
    /is not proved/,
  ],
  [
    'has another amount',
    put('records/0/record/total_usd', '12.500001'),
    /records\[0\] \(intent\) is not proved/,
  ],
  ['has a number as text', put('records/0/record/total_usd', 12.5), /is not proved/],
  ['has text instead of null', put('records/0/record/held', ''), /is not proved/],
  ['has an added field', put('records/2/record/outcome2', 'rejected'), /\(outcome\) is not proved/],
  ['lacks a field', remove('records/2/record/kind'), /\(outcome\) is not proved/],
  [
    'has items in another order',
    putList('records/0/record/items', (items) => items.reverse()),
    /is not proved/,
  ],
  ['has another index', put('records/0/index', 2), /is not proved/],
  ['has an index beyond the log', put('records/0/index', 11), /claims a leaf/],
  ['has a fractional index', put('records/0/index', 3.5), /claims a leaf/],
  ['has a changed hash', put('records/0/proof/1', flip), /is not proved/],
  ['lacks a hash', putList('records/0/proof', (proof) => proof.slice(0, -1)), /is not proved/],
  ['has an added hash', putList('records/0/proof', (proof) => [...proof, proof[0]]), /is not proved/],
  ['has swapped hashes', putList('records/0/proof', (proof) => proof.reverse()), /is not proved/],
  ['has a short hash', put('records/0/proof/0', 'AAAA'), /proof that is not a list of hashes/],
  ['has no proof', remove('records/0/proof'), /proof that is not a list of hashes/],
  ['has malformed openings', put('records/0/openings', 'none'), /openings that are not a list/],
  [
    'opens another value',
    put('records/0/openings/1/value', 'bob@example.com'),
    /openings\[1\] shows another value/,
  ],
  [
    'opens with another salt',
    put('records/0/openings/1/salt', SALT.replace('00', '10')),
    /shows another value/,
  ],
  [
    'opens another list of recipients',
    put('records/0/openings/0/value', '[{"position":0}]'),
    /shows another value/,
  ],
  [
    'opens a recipient that the list lacks',
    put('records/0/openings/1/commitment', 'recipients/1/email_commitment'),
    /no commitment/,
  ],
  [
    'opens a recipient without the list',
    put('records/0/openings/0/commitment', 'body_commitment'),
    /shows another value/,
  ],
  ['opens a field without commitment', put('records/0/openings/0/commitment', 'total_usd'), /no commitment/],
  [
    'opens a matching hash that is not a commitment',
    all(put('records/0/openings/1/commitment', 'digest'), put('records/0/openings/1/value', 'x')),
    /no commitment/,
  ],
  [
    'opens a missing commitment',
    put('records/0/openings/0/commitment', 'items/7/email_commitment'),
    /no commitment/,
  ],
  [
    'opens an inherited property',
    put('records/0/openings/0/commitment', 'constructor/name'),
    /no commitment/,
  ],
  ['opens in an unknown encoding', put('records/0/openings/0/encoding', 'hex'), /no value that can be read/],
  ['opens with a lone surrogate', put('records/0/openings/1/value', '\ud800'), /no value that can be read/],
  [
    // SHA-256(salt || value) is unchanged, only the length differs
    'moves the first letters of a value into the salt',
    all(put('records/0/openings/1/salt', `${SALT}616461`), put('records/0/openings/1/value', '@example.com')),
    /salt that is not 16 bytes/,
  ],
];
