import { UsdAmount } from '../../http/validation/money-rules';
import { EmailOr, Handle, PhoneNumber } from '../../http/validation/people-rules';
import { Items, Text } from '../../http/validation/rules';

/** docs/reference/upstream.md, "Airtime item". */
export class AirtimeItem {
  @Text({ max: 100, description: 'Country name of the receiver.', example: 'Nigeria' })
  countryToSend!: string;

  @PhoneNumber()
  phoneNumber!: string;

  @UsdAmount({ description: 'Value in US dollars.' })
  valueInUSD!: number;
}

export class AirtimePayoutDto {
  @Items(() => AirtimeItem)
  airtimes!: AirtimeItem[];
}

/** docs/reference/upstream.md, "Mobile money item". */
export class MobileMoneyItem {
  @Text({ max: 100, description: 'Country name of the receiver.', example: 'Nigeria' })
  countryToSend!: string;

  @PhoneNumber()
  phoneNumber!: string;

  @UsdAmount({ description: 'Value in US dollars.' })
  valueInUSD!: number;

  @Text({ max: 255, mayBeEmpty: true, description: 'Your reference. It may be empty.', example: 'invoice-17' })
  reference!: string;

  @Text({ max: 50, description: 'Mobile money network code, from `/info/mobile-money-codes`.', example: 'MPS' })
  momoCode!: string;
}

export class MobileMoneyPayoutDto {
  @Items(() => MobileMoneyItem)
  momos!: MobileMoneyItem[];
}

/** docs/reference/upstream.md, "Credit item": the value is marked optional on this operation. */
export class CreditItem {
  @UsdAmount({ required: false, description: 'Value in US dollars.' })
  valueInUSD?: number;

  @EmailOr('twitter')
  email?: string;

  @Handle()
  twitter?: string;
}

export class CreditPayoutDto {
  @Items(() => CreditItem)
  credits!: CreditItem[];
}

/** docs/reference/upstream.md, "POST /payouts/initiate-credit". */
export class InitiateCreditItem {
  @UsdAmount({ description: 'Value in US dollars.' })
  valueInUSD!: number;

  @EmailOr('twitter')
  email?: string;

  @Handle()
  twitter?: string;
}

export class InitiateCreditPayoutDto {
  @Items(() => InitiateCreditItem)
  credits!: InitiateCreditItem[];

  @Text({ max: 1_000, required: false, mayBeEmpty: true, description: 'Description of the payout.', example: 'Prizes' })
  description?: string;
}
