import { UsdAmount } from '../../http/validation/money-rules';
import { EmailOr, Handle } from '../../http/validation/people-rules';
import { Items, Text } from '../../http/validation/rules';

/** docs/reference/upstream.md, "Credit item". */
export class SendItem {
  @UsdAmount({ description: 'Value in US dollars.' })
  valueInUSD!: number;

  @EmailOr('twitter')
  email?: string;

  @Handle()
  twitter?: string;
}

/** docs/reference/upstream.md, "POST /send". */
export class SendDto {
  @Items(() => SendItem)
  credit!: SendItem[];

  @Text({
    max: 1_000,
    required: false,
    mayBeEmpty: true,
    description: 'Description of the request.',
    example: 'Prizes',
  })
  description?: string;
}
