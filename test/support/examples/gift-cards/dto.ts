import { UsdAmount } from '../../../../src/http/validation/rules/money-rules';
import { Email } from '../../../../src/http/validation/rules/people-rules';
import { Items, Text } from '../../../../src/http/validation/rules/rules';

export class GiftCardItem {
  @Email('Where the gift card is sent.')
  email!: string;

  @UsdAmount({ description: 'Value in US dollars.' })
  valueInUSD!: number;

  @Text({ max: 100, description: 'The brand of the gift card.', example: 'books' })
  brand!: string;
}

export class GiftCardPayoutDto {
  @Items(() => GiftCardItem)
  giftCards!: GiftCardItem[];
}
