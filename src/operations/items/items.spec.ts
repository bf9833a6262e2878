import { NO_ITEM } from '../../../test/support/payments/no-item';
import { OPERATIONS } from '../catalogue/catalogue';
import { itemsOf } from './items';

const plain = (items: ReturnType<typeof itemsOf>) =>
  items.map((item) => ({ ...item, amountUsd: item.amountUsd?.toFixed() ?? null }));

describe('the items of a body', () => {
  it('are read from the list of the operation, in its order', () => {
    const airtimes = [
      { countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 0.1 },
      { countryToSend: 'Ghana', phoneNumber: '+233201234567', valueInUSD: 2 },
    ];
    expect(plain(itemsOf('POST /payouts/airtime', { airtimes }))).toEqual([
      { ...NO_ITEM, recipientField: 'phone', phone: '+254712345678', country: 'Kenya', amountUsd: '0.1' },
      { ...NO_ITEM, recipientField: 'phone', phone: '+233201234567', country: 'Ghana', amountUsd: '2' },
    ]);
  });

  it.each(['POST /send', 'POST /payouts/credit', 'POST /payouts/initiate-credit'] as const)(
    'name the email if there are an email and a handle, and report the ignored handle (%s)',
    (operation) => {
      const list = OPERATIONS[operation].items.in;
      const email = 'ada@example.com';
      const items = [{ email }, { twitter: '@ada' }, { email, twitter: '@ada' }, { email, twitter: '' }];
      expect(plain(itemsOf(operation, { [list]: items }))).toEqual([
        { ...NO_ITEM, recipientField: 'email', email },
        { ...NO_ITEM, recipientField: 'handle', handle: '@ada' },
        { ...NO_ITEM, recipientField: 'email', email, handle: '@ada', handleIgnored: true },
        { ...NO_ITEM, recipientField: 'email', email },
      ]);
    },
  );

  it('keep an empty reference of mobile money, which differs from a missing one', () => {
    const momos = [
      { countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 1, reference: '', momoCode: 'MPS' },
    ];
    expect(itemsOf('POST /payouts/mobile-money', { momos })[0]).toMatchObject({
      reference: '',
      networkCode: 'MPS',
    });
  });

  it('are the body itself for a transfer or a deletion', () => {
    expect(
      plain(itemsOf('POST /account/transfer', { receiver: 'sub-1', amount: 1e-6, wallet: 'airtime' })),
    ).toEqual([
      { ...NO_ITEM, recipientField: 'receiver', receiver: 'sub-1', amountUsd: '0.000001', wallet: 'airtime' },
    ]);
    expect(plain(itemsOf('POST /account/delete-unpaid-transaction', { chiRef: 'ref-1' }))).toEqual([
      { ...NO_ITEM, upstreamRef: 'ref-1' },
    ]);
  });

  it('name people without paying them for a collection or a new sub-account, and have no amount', () => {
    const payer = {
      amount: 1500,
      currency: 'KES',
      phone_number: '+254712345678',
      fullname: 'Ada',
      country: 'Kenya',
    };
    const body = { ...payer, email: 'ada@example.com', tx_ref: 'invoice-17' };
    for (const step of ['collect', 'initiate'] as const) {
      expect(plain(itemsOf(`POST /collections/mobile-money/${step}`, body))).toEqual([
        {
          ...NO_ITEM,
          phone: '+254712345678',
          email: 'ada@example.com',
          country: 'Kenya',
          reference: 'invoice-17',
        },
      ]);
    }
    const holder = {
      name: 'Ada',
      email: 'ada@example.com',
      phoneNumber: '+254712345678',
      meta: { receiver: 'x' },
    };
    expect(plain(itemsOf('POST /sub-account/create', holder))).toEqual([
      { ...NO_ITEM, email: 'ada@example.com', phone: '+254712345678' },
    ]);
  });

  it('are the body itself for a redemption or a transfer between wallets', () => {
    const redemption = { chiRef: 'ref-1', phoneNumber: '+2348012345678', countryToSend: 'Nigeria', meta: {} };
    expect(plain(itemsOf('POST /redeem/airtime', redemption))).toEqual([
      {
        ...NO_ITEM,
        recipientField: 'phone',
        phone: '+2348012345678',
        country: 'Nigeria',
        upstreamRef: 'ref-1',
      },
    ]);
    expect(
      plain(itemsOf('POST /wallets/transfer', { receiver: 'sub-1', valueInUSD: 0.1, wallet: 'chi' })),
    ).toEqual([
      { ...NO_ITEM, recipientField: 'receiver', receiver: 'sub-1', amountUsd: '0.1', wallet: 'chi' },
    ]);
  });

  it('are empty for a read with any query', () => {
    expect(itemsOf('GET /account/transaction', { id: 'x' })).toEqual([]);
    expect(itemsOf('GET /wallets/list', undefined)).toEqual([]);
    expect(itemsOf('POST /wallets/lookup', { walletID: 'x' })).toEqual([]);
  });

  it('have the exact amount as written, without floats', () => {
    const credits = [0.1, 0.2, 123456789.123456, 1e-6].map((valueInUSD) => ({
      email: 'ada@example.com',
      valueInUSD,
    }));
    const amounts = itemsOf('POST /payouts/credit', { credits }).map(({ amountUsd }) => amountUsd?.toFixed());
    expect(amounts).toEqual(['0.1', '0.2', '123456789.123456', '0.000001']);
  });
});
