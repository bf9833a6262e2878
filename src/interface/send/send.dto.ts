import { UsdAmount } from '../../http/validation/rules/money-rules';
import { EmailOr, Handle } from '../../http/validation/rules/people-rules';
import { Items, Text } from '../../http/validation/rules/rules';

/** See "Credit item" in docs/reference/upstream.md. */
export class SendItem {
  @UsdAmount({ description: 'Value in US dollars.' }) valueInUSD!: number;

  @EmailOr('twitter') email?: string;

  @Handle() twitter?: string;
}

/** See "POST /send" in docs/reference/upstream.md. */
export class SendDto {
  @Items(() => SendItem) credit!: SendItem[];

  @Text({
    max: 1_000,
    required: false,
    mayBeEmpty: true,
    description: 'Description of the request.',
    example: 'Prizes',
  })
  description?: string;
}
