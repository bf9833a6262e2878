import { formatCheckpoint, parseCheckpoint } from '../../../src/history/log/head';
import { openNote, signNote } from '../../../src/history/log/note';
import { at } from '../../support/databases/damage';
import { BROKEN } from '../../support/records/broken-receipts';
import { verifyAsDocumented } from '../../support/records/documented-verifier';
import {
  askAll,
  CALL,
  clone,
  forger,
  LOG,
  ORIGIN,
  receiptOf,
  signer,
  TestReceipt,
} from '../../support/records/receipts';

describe('the receipt verifier', () => {
  it('accepts valid receipts, and names each kind of fault', async () => {
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
      records: [
        { opened: ['recipients_commitment', 'recipients/0/email_commitment', 'body_commitment'] },
        { opened: [] },
        { kind: 'outcome' },
      ],
    });
    const said = receipts.map((verdict) => (typeof verdict === 'string' ? verdict : 'it holds'));
    const wrong = BROKEN.filter(
      ([, , fault], at) => !/^Fault: /.test(said[at + 1]!) || !fault.test(said[at + 1]!),
    );
    expect(wrong.map(([how]) => `${how}: ${said[1 + BROKEN.findIndex(([name]) => name === how)]}`)).toEqual(
      [],
    );
    expect(
      askAll({ receipts: texts.map((text) => ({ text, keys })) }).receipts.every(
        (fault) => typeof fault === 'string',
      ),
    ).toBe(true);
    const documented = verifyAsDocumented([JSON.stringify(good), ...texts], signer.verifierKey).faults;
    expect(documented[0]).toBeNull();
    expect(BROKEN.filter((_, at) => documented[at + 1] === null).map(([how]) => how)).toEqual([]);
  });

  it('detects a size mismatch of checkpoint and path, even with the right root', async () => {
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

  it('accepts a receipt of two keys with either key, and rejects one forged signature', async () => {
    const [good, forged] = [
      await receiptOf(LOG, [3, 5, 8], forger, signer),
      await receiptOf(LOG, [3, 5, 8], forger),
    ];
    const wrong = signNote('another text\n', signer).split('\n').at(-2) ?? '';
    const mixed = clone(forged);
    mixed.checkpoint += `${wrong}\n`;
    const text = JSON.stringify({ ...good, log: { origin: ORIGIN, key: forger.verifierKey } });
    const keysOf = (...keys: { verifierKey: string }[]) => keys.map(({ verifierKey }) => verifierKey);
    const { receipts } = askAll({
      receipts: [
        ...[[signer], [forger], [signer, forger]].map((keys) => ({ text, keys: keysOf(...keys) })),
        ...[[signer], [signer, forger]].map((keys) => ({
          text: JSON.stringify(mixed),
          keys: keysOf(...keys),
        })),
        { text: JSON.stringify(mixed), keys: keysOf(forger) }, // For verifiers without the other key.
      ],
    });
    const holds: unknown = expect.objectContaining({ call_id: CALL });
    const doesNotFit: unknown = expect.stringContaining('does not fit its text');
    expect(receipts).toEqual([holds, holds, holds, doesNotFit, doesNotFit, holds]);
  });

  it('trusts the given key, not that of the receipt', async () => {
    const [good, forged] = [await receiptOf(), await receiptOf(LOG, [3, 5, 8], forger)].map((it) =>
      JSON.stringify(it),
    );
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
    const warned: unknown = expect.objectContaining({
      warning: expect.stringContaining('Nothing shows who'),
    });
    expect(receipts[0]).not.toHaveProperty('warning');
    expect(receipts.slice(1, 3)).toEqual([warned, warned]);
    expect(receipts[3]).toMatch(/None of the given keys signed the receipt/);
    expect([receipts[4], receipts[5]]).toEqual(
      Array(2).fill(expect.stringContaining("not signed by the log's key")),
    );
  });

  it('rejects a duplicate name, in any spelling', async () => {
    const text = JSON.stringify(await receiptOf());
    const twice = ['"total_usd":"99"', '"\\u0074otal_usd" : "99"'].map((first) =>
      text.replace('"total_usd"', `${first},$&`),
    );
    const { receipts } = askAll({ receipts: twice.map((each) => ({ text: each })) });
    // JSON.parse hides it.
    expect(at(JSON.parse(twice[1]!) as object, 'records/0/record/total_usd')).toBe('12.500000');
    expect(receipts).toEqual(Array(2).fill('Fault: The receipt has total_usd twice in one object.'));
  });
});
