import { CurrencyCode, LocalAmountText, UsdAmountText } from '../../http/validation/rules/money-rules';

/** See "GET /info/usd-amount-in-local" in docs/reference/upstream.md. */
export class UsdInLocalQuery {
  @CurrencyCode('Target currency.', 'KES') destinationCurrency!: string;

  @UsdAmountText('Amount in US dollars.') amountInUSD!: string;
}

/** See "GET /info/local-amount-in-usd" in docs/reference/upstream.md. */
export class LocalInUsdQuery {
  @CurrencyCode('Currency of the amount.', 'NGN') originCurrency!: string;

  @LocalAmountText('Amount in that currency.') amountInOriginCurrency!: string;
}
