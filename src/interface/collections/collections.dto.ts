import { CurrencyCode, LocalAmount } from '../../http/validation/rules/money-rules';
import { Email, PhoneNumber } from '../../http/validation/rules/people-rules';
import { Text } from '../../http/validation/rules/rules';

/** See "POST /collections/mobile-money/collect" and "…/initiate" in docs/reference/upstream.md. */
export class CollectPaymentDto {
  @LocalAmount('Amount in `currency`.') amount!: number;

  @CurrencyCode('Currency of the amount.', 'KES') currency!: string;

  @PhoneNumber({ description: 'Phone number of the payer.' }) phone_number!: string;

  @Text({ max: 200, description: 'Name of the payer.', example: 'Ada Lovelace' }) fullname!: string;

  @Text({ max: 100, description: 'Country name of the payer.', example: 'Kenya' }) country!: string;

  @Email('Email address of the payer.') email!: string;

  @Text({ max: 255, description: 'Your reference of the payment.', example: 'invoice-17' }) tx_ref!: string;
}

/** See "POST /collections/mobile-money/verify" in docs/reference/upstream.md. */
export class VerifyPaymentDto {
  @Text({ max: 100, description: 'ID of the payment.', example: 'Zk3x9Qw1Lm7Tn2Rb5Vc8' }) id!: string;
}
