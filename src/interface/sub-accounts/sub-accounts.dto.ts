import { FreeForm } from '../../http/validation/free-form';
import { Email, PhoneNumber } from '../../http/validation/rules/people-rules';
import { Text } from '../../http/validation/rules/rules';

/** See "POST /sub-account/create" in docs/reference/upstream.md. */
export class CreateSubAccountDto {
  @Text({ max: 200, description: "The sub-account's name.", example: 'Branch office' }) name!: string;

  @Email("The holder's email address.") email!: string;

  @Text({ max: 100, required: false, description: "The holder's first name.", example: 'Ada' })
  firstName?: string;

  @Text({ max: 100, required: false, description: "The holder's last name.", example: 'Lovelace' })
  lastName?: string;

  @PhoneNumber({ required: false, description: "The holder's phone number.", line: 'any' })
  phoneNumber?: string;

  @FreeForm('Your own notes. The upstream stores them unchanged.') meta?: object;
}

/** See "GET /sub-account/get?id=" in docs/reference/upstream.md. */
export class SubAccountQuery {
  @Text({
    max: 100,
    description: "The sub-account's ID, from `/sub-account/list`.",
    example: 'sub-account-1',
  })
  id!: string;
}
