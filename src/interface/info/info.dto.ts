import { CurrencyCode, LocalAmountText, UsdAmountText } from '../../http/validation/rules/money-rules';

/** See "GET /info/usd-amount-in-local" in docs/reference/upstream.md. */
export class UsdInLocalQuery {
  @CurrencyCode('The currency to convert into.', 'KES') destinationCurrency!: string;

  @UsdAmountText('Amount in US dollars.') amountInUSD!: string;
}

/** See "GET /info/local-amount-in-usd" in docs/reference/upstream.md. */
export class LocalInUsdQuery {
  @CurrencyCode('The currency to convert from.', 'NGN') originCurrency!: string;

  @LocalAmountText('The amount in that currency.') amountInOriginCurrency!: string;
}
