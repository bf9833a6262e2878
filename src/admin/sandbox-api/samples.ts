import { OperationName } from '../../operations/catalogue';

/** The operations that samples are sent of: those that pay somebody, make a link, or collect. */
export const SAMPLE_OPERATIONS = [
  'POST /payouts/airtime',
  'POST /payouts/mobile-money',
  'POST /payouts/credit',
  'POST /payouts/initiate-credit',
  'POST /send',
  'POST /account/transfer',
  'POST /wallets/transfer',
  'POST /collections/mobile-money/collect',
] as const satisfies OperationName[];

export type SampleOperation = (typeof SAMPLE_OPERATIONS)[number];

export interface Sample {
  operation: SampleOperation;
  title: string;
  body: object;
}

const PHONE = { countryToSend: 'Kenya', phoneNumber: '+254712345678' };
const SOMEBODY = { email: 'ada@example.com' };

/**
 * One of each kind, right in everything.
 * @param subAccounts ids of accounts that value can be transferred to.
 */
export function samplesFor(subAccounts: string[]): Sample[] {
  const bodies: Record<SampleOperation, [string, object]> = {
    'POST /payouts/airtime': ['Airtime for a phone', { airtimes: [{ ...PHONE, valueInUSD: 1.5 }] }],
    'POST /payouts/mobile-money': [
      'Mobile money for a phone',
      { momos: [{ ...PHONE, valueInUSD: 2.5, reference: 'sample', momoCode: 'MPS' }] },
    ],
    'POST /payouts/credit': ['A credit for an e-mail address', { credits: [{ ...SOMEBODY, valueInUSD: 3 }] }],
    'POST /payouts/initiate-credit': [
      'A link: who opens it pays for the credits',
      { credits: [{ ...SOMEBODY, valueInUSD: 4 }], description: 'Sample' },
    ],
    'POST /send': [
      'A link: who opens it pays what is sent',
      { credit: [{ ...SOMEBODY, valueInUSD: 5 }], description: 'Sample' },
    ],
    'POST /account/transfer': [
      'A transfer to a sub-account',
      { receiver: subAccounts[0], amount: 6, wallet: 'airtime' },
    ],
    'POST /wallets/transfer': [
      'A transfer between wallets',
      { receiver: subAccounts[1], valueInUSD: 7, wallet: 'momo' },
    ],
    'POST /collections/mobile-money/collect': [
      'A payment collected from a phone',
      {
        amount: 150.5,
        currency: 'KES',
        country: 'Kenya',
        phone_number: PHONE.phoneNumber,
        fullname: 'Ada Lovelace',
        ...SOMEBODY,
        tx_ref: 'sample',
      },
    ],
  };
  return SAMPLE_OPERATIONS.map((operation) => {
    const [title, body] = bodies[operation];
    return { operation, title, body };
  });
}
