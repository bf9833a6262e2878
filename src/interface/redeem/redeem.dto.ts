import { FreeForm } from '../../http/validation/free-form';
import { PhoneNumber } from '../../http/validation/rules/people-rules';
import { Text } from '../../http/validation/rules/rules';

/** See "POST /redeem/airtime" in docs/reference/upstream.md. */
export class RedeemAirtimeDto {
  @Text({
    max: 100,
    description: 'Reference of the transaction.',
    example: '3f8a0c1e-9d0b-4c54-8f55-2f6d0a4f8f11',
  })
  chiRef!: string;

  @PhoneNumber() phoneNumber!: string;

  @Text({ max: 100, description: 'Country name of the receiver.', example: 'Nigeria' })
  countryToSend!: string;

  @FreeForm('Your own notes. The upstream stores them unchanged.') meta?: object;
}
