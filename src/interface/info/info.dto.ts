import { CurrencyCode, LocalAmountText, UsdAmountText } from '../../http/validation/money-rules';

/** docs/reference/upstream.md, "GET /info/usd-amount-in-local". */
export class UsdInLocalQuery {
  @CurrencyCode('The currency to convert into.', 'KES')
  destinationCurrency!: string;

  @UsdAmountText('Amount in US dollars.')
  amountInUSD!: string;
}

/** docs/reference/upstream.md, "GET /info/local-amount-in-usd". */
export class LocalInUsdQuery {
  @CurrencyCode('The currency to convert from.', 'NGN')
  originCurrency!: string;

  @LocalAmountText('The amount in that currency.')
  amountInOriginCurrency!: string;
}
