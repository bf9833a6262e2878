import { answer, FakeUpstream } from '../network/fake-upstream';

/** Makes a call with a key, and remembers it by name. */
export type MakeCall = (
  name: string,
  key: string,
  path: string,
  body: object,
  behaviour?: FakeUpstream['behaviour'],
) => Promise<void>;

/** Returns a transaction in an answer of the upstream. */
const transaction = (n: number, more: object) => ({
  chiRef: `chi-${n}`,
  id: `transaction-${n}`,
  issueID: `issue_${n}`,
  status: 'paid',
  valueInUSD: n,
  ...more,
});

/** Makes one call for each kind of search result. */
export async function makeCalls(
  make: MakeCall,
  { shop, other, auditor }: Record<'shop' | 'other' | 'auditor', string>,
): Promise<void> {
  const phone = (phoneNumber: string, valueInUSD: number) => ({
    countryToSend: 'Kenya',
    phoneNumber,
    valueInUSD,
  });
  const momo = (phoneNumber: string, reference: string) => ({
    ...phone(phoneNumber, 1),
    reference,
    momoCode: 'MPS',
  });
  const paid = (...items: object[]) =>
    answer(200, { status: 'success', data: { data: items, error: 'None' } });
  await make(
    'airtime',
    shop,
    '/payouts/airtime',
    { airtimes: [phone('+2348012345678', 1), phone('+254712345678', 2)] },
    paid(transaction(1, { phoneNumber: '+2348012345678' }), transaction(2, { phoneNumber: '+254712345678' })),
  );
  await make('momo', shop, '/payouts/mobile-money', {
    momos: [momo('+254712345678', 'invoice-17'), momo('+256712345678', '')],
  });
  await make('send', other, '/send', {
    credit: [{ email: 'Ada+Prizes@Example.com', twitter: '@Ada', valueInUSD: 3 }],
  });
  await make(
    'credit',
    other,
    '/payouts/credit',
    { credits: [{ twitter: '@Bob' }] },
    answer(400, { status: 'error', error: 'no' }),
  );
  await make('transfer', shop, '/account/transfer', { receiver: 'sub account+1', amount: 5 });
  await make('deletion', shop, '/account/delete-unpaid-transaction', { chiRef: 'chi-9' });
  await make('refused', shop, '/send', { credit: [] });
  await make('no scope', auditor, '/send', { credit: [] });
  await make(
    'unknown',
    other,
    '/payouts/airtime',
    { airtimes: [phone('+2348012345678', 7)] },
    answer(502, 'Bad Gateway'),
  );
  await make(
    'busy',
    shop,
    '/payouts/airtime',
    { airtimes: [phone('+233201234567', 7)] },
    answer(429, { status: 'error', error: 'x' }),
  );
}
