import { type Receipt, VerificationError, verifyReceipt } from '../../packages/sdk/src/index.ts';
import { BROKEN } from '../support/records/broken-receipts';
import {
  CALL,
  clone,
  forger,
  LOG,
  ORIGIN,
  receiptOf,
  signer,
  TestReceipt,
} from '../support/records/receipts';

const verified = (receipt: TestReceipt, ...keys: { verifierKey: string }[]) =>
  verifyReceipt(
    receipt as Receipt,
    keys.map(({ verifierKey }) => verifierKey),
  );

const faultOf = (receipt: TestReceipt, ...keys: { verifierKey: string }[]) =>
  verified(receipt, ...keys).then(
    () => undefined,
    (error: unknown) => error,
  );

describe('verifyReceipt', () => {
  it('returns the facts that a receipt proves', async () => {
    const proved = await verified(await receiptOf(), signer);
    expect(proved).toMatchObject({ callId: CALL, origin: ORIGIN, size: 11, key: signer.verifierKey });
    expect(proved.records.map(({ kind }) => kind)).toEqual(['intent', 'decision', 'outcome']);
    expect(proved.records[0]?.opened).toMatchObject({ 'recipients/0/email_commitment': 'ada@example.com' });
  });

  it('rejects a receipt that is broken in any way', async () => {
    const [good, earlier] = [await receiptOf(), await receiptOf(LOG.slice(0, 8), [3])];
    for (const [how, damage] of BROKEN) {
      const receipt = clone(good);
      damage(receipt, earlier);
      expect([how, await faultOf(receipt, signer, forger)]).toEqual([how, expect.any(VerificationError)]);
    }
    expect(BROKEN.length).toBeGreaterThan(40);
  });

  it('trusts only the given keys', async () => {
    const forged = await receiptOf(LOG, [3, 5, 8], forger);
    expect(await faultOf(forged, signer)).toMatchObject({
      message: expect.stringContaining('None of your keys'),
    });
    expect(await faultOf(forged)).toBeInstanceOf(VerificationError);
    const both = await receiptOf(LOG, [3, 5, 8], forger, signer); // during a rotation of the log's key
    expect(await verified(both, signer)).toMatchObject({ key: signer.verifierKey });
  });

  it('rejects text with a duplicate member, in any spelling', async () => {
    const text = JSON.stringify(await receiptOf());
    expect(await verifyReceipt(text, signer.verifierKey)).toMatchObject({ callId: CALL });
    for (const twice of ['"total_usd":"99"', '"\\u0074otal_usd" : "99"']) {
      const changed = text.replace('"total_usd"', `${twice},$&`);
      await expect(verifyReceipt(changed, signer.verifierKey)).rejects.toThrow(
        'An object has total_usd twice',
      );
    }
    await expect(verifyReceipt('no JSON', signer.verifierKey)).rejects.toBeInstanceOf(VerificationError);
  });
});
