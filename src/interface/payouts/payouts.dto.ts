import { UsdAmount } from '../../http/validation/rules/money-rules';
import { EmailOr, Handle, PhoneNumber } from '../../http/validation/rules/people-rules';
import { Items, Text } from '../../http/validation/rules/rules';

/** See "Airtime item" in docs/reference/upstream.md. */
export class AirtimeItem {
  @Text({ max: 100, description: 'Country name of the receiver.', example: 'Nigeria' })
  countryToSend!: string;

  @PhoneNumber() phoneNumber!: string;

  @UsdAmount({ description: 'Value in US dollars.' }) valueInUSD!: number;
}

export class AirtimePayoutDto {
  @Items(() => AirtimeItem) airtimes!: AirtimeItem[];
}

/** See "Mobile money item" in docs/reference/upstream.md. */
export class MobileMoneyItem {
  @Text({ max: 100, description: 'Country name of the receiver.', example: 'Nigeria' })
  countryToSend!: string;

  @PhoneNumber() phoneNumber!: string;

  @UsdAmount({ description: 'Value in US dollars.' }) valueInUSD!: number;

  @Text({
    max: 255,
    mayBeEmpty: true,
    description: 'Your reference. It may be empty.',
    example: 'invoice-17',
  })
  reference!: string;

  @Text({
    max: 50,
    description: 'Mobile money network code, from `/info/mobile-money-codes`.',
    example: 'MPS',
  })
  momoCode!: string;
}

export class MobileMoneyPayoutDto {
  @Items(() => MobileMoneyItem) momos!: MobileMoneyItem[];
}

/** See "Credit item" in docs/reference/upstream.md. The value is optional for this operation. */
export class CreditItem {
  @UsdAmount({ required: false, description: 'Value in US dollars.' }) valueInUSD?: number;

  @EmailOr('twitter') email?: string;

  @Handle() twitter?: string;
}

export class CreditPayoutDto {
  @Items(() => CreditItem) credits!: CreditItem[];
}

/** See "POST /payouts/initiate-credit" in docs/reference/upstream.md. */
export class InitiateCreditItem {
  @UsdAmount({ description: 'Value in US dollars.' }) valueInUSD!: number;

  @EmailOr('twitter') email?: string;

  @Handle() twitter?: string;
}

export class InitiateCreditPayoutDto {
  @Items(() => InitiateCreditItem) credits!: InitiateCreditItem[];

  @Text({
    max: 1_000,
    required: false,
    mayBeEmpty: true,
    description: 'Description of the payout.',
    example: 'Prizes',
  })
  description?: string;
}
