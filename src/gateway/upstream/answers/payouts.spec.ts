import fc from 'fast-check';
import { payoutsIn } from './payouts';

const inEnvelope = (payouts: unknown) =>
  payoutsIn(Buffer.from(JSON.stringify({ status: 'success', data: { payouts } })));
const SENT = {
  phoneNumber: '+254712345678',
  amount: 10,
  status: 'Sent',
  requestId: 'r',
  errorMessage: 'None',
};
const FAILED = { phoneNumber: '254700000001', status: 'Failed', errorMessage: 'Invalid phone number' };
const READ = [
  { index: 0, phone: '+254712345678', status: 'Sent', error: null },
  { index: 1, phone: '254700000001', status: 'Failed', error: 'Invalid phone number' },
];

describe('payoutsIn', () => {
  it('reads a list, and a map with numbers as keys', () => {
    expect(inEnvelope([SENT, FAILED])).toEqual(READ);
    expect(inEnvelope({ 0: SENT, 1: FAILED, issueID: 'issuer_2_1700000000000' })).toEqual(READ);
    expect(inEnvelope({ 7: FAILED })).toEqual([{ ...READ[1], index: 7 }]);
  });

  it.each([undefined, null, '', 'none', 'NONE', ' None '])(
    'reads the error message %j as no error',
    (errorMessage) => {
      expect(inEnvelope([{ ...SENT, errorMessage }])).toEqual([READ[0]]);
    },
  );

  it.each([undefined, null, [], {}, 'text', 7, [null, 'x', {}], { issueID: 'x', a: SENT }])(
    'finds none in %j',
    (given) => {
      expect(inEnvelope(given)).toEqual([]);
    },
  );

  it('never throws on any value', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => Array.isArray(inEnvelope(value))));
    fc.assert(fc.property(fc.uint8Array(), (bytes) => payoutsIn(Buffer.from(bytes)).length === 0));
  });
});
