import { formatCheckpoint, parseCheckpoint } from '../src/history/log/checkpoint';
import { openNote, signNote } from '../src/history/log/note';
import { all, at, put, putList, remove } from './support/damage';
import { verifyAsDocumented } from './support/documented-verifier';
import {
  askAll,
  CALL,
  clone,
  forger,
  LOG,
  ORIGIN,
  other,
  receiptOf,
  SALT,
  signer,
  TestReceipt,
} from './support/receipts';

const flip = (base64: string) => {
  const bytes = Buffer.from(base64, 'base64');
  bytes[7]! ^= 16;
  return bytes.toString('base64');
};

/** What is done to a good receipt, and the fault that is named. Nobody without the log's key can do more than this. */
const BROKEN: [string, (receipt: TestReceipt, earlier: TestReceipt) => void, RegExp][] = [
  ['is of a later format', put('format', 'payout-proxy/receipt/2'), /not a receipt of the format/],
  ['names no call', remove('call_id'), /call_id is missing/],
  ['names another call', put('call_id', other(0).id), /records\[0\] \(intent\) is a record of another call/],
  ['names no log', remove('log'), /does not name its log/],
  ['names another log', put('log/origin', 'other.example/log'), /checkpoint is of another log/],
  ['names another key', put('log/key', forger.verifierKey), /not signed by the log's key/],
  ['names a damaged key', put('log/key', (key: string) => key.replace('payouts', 'others')), /not a verifier key/],
  ['has no checkpoint', remove('checkpoint'), /no checkpoint/],
  [
    'has a checkpoint of another size',
    put('checkpoint', (note: string) => note.replace('\n11\n', '\n12\n')),
    /does not fit/,
  ],
  ['has an unsigned checkpoint', put('checkpoint', (note: string) => note.replace(/\u2014.*\n/, '')), /no signature/],
  [
    'has a signature renamed',
    put('checkpoint', (note: string) => note.replace(`\u2014 ${ORIGIN}`, '\u2014 other')),
    /not signed by/,
  ],
  ['has a checkpoint cut short', put('checkpoint', (note: string) => note.slice(0, -1)), /not a signed note/],
  ['has a note for a checkpoint', put('checkpoint', signNote('hello\n', signer)), /signed, but not one/],
  [
    'has a checkpoint before its records',
    (it, earlier) => (it.checkpoint = earlier.checkpoint),
    /\(intent\) is not proved/,
  ],
  ['has no records', put('records', []), /proves nothing/],
  ['has nothing for a record', put('records/1', null), /records\[1\] has no kind/],
  ['lists a record twice', putList('records', (all) => [...all, clone(all[0])]), /same leaf twice/],
  [
    'has a record of another call',
    put('records/1/record/intent_id', other(4).id),
    /\(decision\) is a record of another/,
  ],
  ['hides whose record it is', remove('records/1/record/intent_id'), /\(decision\) is a record of another call/],
  ['labels a record otherwise', put('records/2/kind', 'settlement'), /records\[2\] \(settlement\) is labelled/],
  [
    'has another kind of record',
    all(put('records/2/kind', 'settlement'), put('records/2/record/table', 'settlement')),
    /is not proved/,
  ],
  ['has another amount', put('records/0/record/total_usd', '12.500001'), /records\[0\] \(intent\) is not proved/],
  ['has a number for a text', put('records/0/record/total_usd', 12.5), /is not proved/],
  ['has a text for nothing', put('records/0/record/held', ''), /is not proved/],
  ['has a field more', put('records/2/record/outcome2', 'rejected'), /\(outcome\) is not proved/],
  ['has a field less', remove('records/2/record/kind'), /\(outcome\) is not proved/],
  ['has items in another order', putList('records/0/record/items', (items) => items.reverse()), /is not proved/],
  ['has another index', put('records/0/index', 2), /is not proved/],
  ['has an index beyond the log', put('records/0/index', 11), /claims a leaf/],
  ['has a fraction of an index', put('records/0/index', 3.5), /claims a leaf/],
  ['has a hash changed', put('records/0/proof/1', flip), /is not proved/],
  ['has a hash less', putList('records/0/proof', (proof) => proof.slice(0, -1)), /is not proved/],
  ['has a hash more', putList('records/0/proof', (proof) => [...proof, proof[0]]), /is not proved/],
  ['has hashes swapped', putList('records/0/proof', (proof) => proof.reverse()), /is not proved/],
  ['has a short hash', put('records/0/proof/0', 'AAAA'), /proof that is not a list of hashes/],
  ['has no proof', remove('records/0/proof'), /proof that is not a list of hashes/],
  ['has openings of no form', put('records/0/openings', 'none'), /openings that are not a list/],
  ['opens another value', put('records/0/openings/1/value', 'bob@example.com'), /openings\[1\] shows another value/],
  ['opens with another salt', put('records/0/openings/1/salt', SALT.replace('00', '10')), /shows another value/],
  ['opens what is no commitment', put('records/0/openings/0/commitment', 'total_usd'), /no commitment/],
  [
    'opens what fits, but is no commitment',
    all(put('records/0/openings/1/commitment', 'digest'), put('records/0/openings/1/value', 'x')),
    /no commitment/,
  ],
  ['opens what is not there', put('records/0/openings/0/commitment', 'items/7/email_commitment'), /no commitment/],
  ['opens what all objects have', put('records/0/openings/0/commitment', 'constructor/name'), /no commitment/],
  ['opens in an unknown encoding', put('records/0/openings/0/encoding', 'hex'), /no value that can be read/],
  ['opens with half a character', put('records/0/openings/1/value', '\ud800'), /no value that can be read/],
  [
    'passes the first letters of a value off as salt', // SHA-256(salt || value) is the same: only the length tells
    all(put('records/0/openings/1/salt', `${SALT}616461`), put('records/0/openings/1/value', '@example.com')),
    /salt that is not 16 bytes/,
  ],
];

describe('the verifier of receipts', () => {
  it('accepts good receipts, and names each way in which one can be broken', async () => {
    const [good, earlier] = [await receiptOf(), await receiptOf(LOG.slice(0, 8), [3])];
    const texts = BROKEN.map(([, change]) => {
      const receipt = clone(good);
      change(receipt, earlier);
      return JSON.stringify(receipt);
    });
    const keys = [forger.verifierKey, signer.verifierKey];
    const { receipts } = askAll({ receipts: [JSON.stringify(good), ...texts].map((text) => ({ text })) });
    expect(receipts[0]).toMatchObject({
      call_id: CALL,
      log: { origin: ORIGIN, size: 11, key: signer.verifierKey },
      records: [{ opened: ['body_commitment', 'items/0/email_commitment'] }, { opened: [] }, { kind: 'outcome' }],
    });
    const said = receipts.map((verdict) => (typeof verdict === 'string' ? verdict : 'it holds'));
    const wrong = BROKEN.filter(([, , fault], at) => !/^Fault: /.test(said[at + 1]!) || !fault.test(said[at + 1]!));
    expect(wrong.map(([how]) => `${how}: ${said[1 + BROKEN.findIndex(([name]) => name === how)]}`)).toEqual([]);
    expect(
      askAll({ receipts: texts.map((text) => ({ text, keys })) }).receipts.every((fault) => typeof fault === 'string'),
    ).toBe(true);
    const documented = verifyAsDocumented([JSON.stringify(good), ...texts], signer.verifierKey).faults;
    expect(documented[0]).toBeNull();
    expect(BROKEN.filter((_, at) => documented[at + 1] === null).map(([how]) => how)).toEqual([]);
  });

  it('detects that a checkpoint and a path are of different sizes, though the root is right', async () => {
    const resized = (receipt: TestReceipt, size: number, index: number) => {
      const checkpoint = parseCheckpoint(openNote(receipt.checkpoint, signer).text);
      receipt.checkpoint = signNote(formatCheckpoint({ ...checkpoint, size }), signer);
      receipt.records[0]!.index = index;
      return { text: JSON.stringify(receipt) };
    };
    const [eight, six] = [await receiptOf(LOG.slice(0, 8), [3]), await receiptOf(LOG.slice(0, 6), [5])];
    const honest = resized(clone(six), 6, 5);
    const { receipts } = askAll({ receipts: [honest, resized(eight, 11, 3), resized(six, 2, 1)] });
    expect(receipts).toEqual([
      expect.objectContaining({ call_id: CALL }),
      ...Array<unknown>(2).fill(expect.stringContaining('is not proved')),
    ]);
  });

  it('accepts a receipt of two keys from who has either, and rejects it if one signature is forged', async () => {
    const [good, forged] = [await receiptOf(LOG, [3, 5, 8], forger, signer), await receiptOf(LOG, [3, 5, 8], forger)];
    const wrong = signNote('another text\n', signer).split('\n').at(-2) ?? '';
    const mixed = clone(forged);
    mixed.checkpoint += `${wrong}\n`;
    const text = JSON.stringify({ ...good, log: { origin: ORIGIN, key: forger.verifierKey } });
    const keysOf = (...keys: { verifierKey: string }[]) => keys.map(({ verifierKey }) => verifierKey);
    const { receipts } = askAll({
      receipts: [
        ...[[signer], [forger], [signer, forger]].map((keys) => ({ text, keys: keysOf(...keys) })),
        ...[[signer], [signer, forger]].map((keys) => ({ text: JSON.stringify(mixed), keys: keysOf(...keys) })),
        { text: JSON.stringify(mixed), keys: keysOf(forger) }, // for who has never heard of the other key
      ],
    });
    const holds: unknown = expect.objectContaining({ call_id: CALL });
    const doesNotFit: unknown = expect.stringContaining('does not fit its text');
    expect(receipts).toEqual([holds, holds, holds, doesNotFit, doesNotFit, holds]);
  });

  it('trusts the key it gets, not that of the receipt', async () => {
    const [good, forged] = [await receiptOf(), await receiptOf(LOG, [3, 5, 8], forger)].map((it) => JSON.stringify(it));
    const { log } = JSON.parse(good!) as TestReceipt;
    const mixed = JSON.stringify({ ...(JSON.parse(forged!) as TestReceipt), log });
    const keys = [signer.verifierKey];
    const { receipts } = askAll({
      receipts: [
        { text: good!, keys },
        { text: good! },
        { text: forged! },
        { text: forged!, keys },
        { text: mixed, keys },
        { text: mixed },
      ],
    });
    const warned: unknown = expect.objectContaining({ warning: expect.stringContaining('Nothing shows who') });
    expect(receipts[0]).not.toHaveProperty('warning');
    expect(receipts.slice(1, 3)).toEqual([warned, warned]);
    expect(receipts[3]).toMatch(/None of the given keys signed the receipt/);
    expect([receipts[4], receipts[5]]).toEqual(Array(2).fill(expect.stringContaining("not signed by the log's key")));
  });

  it('rejects a name that is given twice, in any spelling', async () => {
    const text = JSON.stringify(await receiptOf());
    const twice = ['"total_usd":"99"', '"\\u0074otal_usd" : "99"'].map((first) =>
      text.replace('"total_usd"', `${first},$&`),
    );
    const { receipts } = askAll({ receipts: twice.map((each) => ({ text: each })) });
    expect(at(JSON.parse(twice[1]!) as object, 'records/0/record/total_usd')).toBe('12.500000'); // JSON.parse shows nothing of it
    expect(receipts).toEqual(Array(2).fill('Fault: The receipt has total_usd twice in one object.'));
  });
});
