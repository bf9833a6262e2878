import { OperationRow } from '../../../../src/operations/catalogue/row';

/** A fictitious operation, as in docs/internals/guides/add-an-operation.md. */
export const GIFT_CARDS = {
  'POST /payouts/gift-card': {
    title: 'Pay out gift cards to recipients',
    effect: 'pay',
    input: 'body',
    items: {
      in: 'giftCards',
      recipient: ['email'],
      fields: { email: 'email', amountUsd: 'valueInUSD' },
      unrecorded: ['brand'],
      ownId: 'nowhere',
    },
    coverage: 'none',
    transactions: { creates: { name: 'gift card', type: 'credit', class: 'payout' }, namedInAnswer: true },
    reach: 'own',
    deadline: 'payout',
    answer: 'CreditPayouts',
    example: { giftCards: [{ email: 'ada@example.com', valueInUSD: 8, brand: 'books' }] },
  },
} as const satisfies Record<string, OperationRow>;
