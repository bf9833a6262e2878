import { FreeForm } from '../../http/validation/free-form';
import { Email, PhoneNumber } from '../../http/validation/rules/people-rules';
import { Text } from '../../http/validation/rules/rules';

/** See "POST /sub-account/create" in docs/reference/upstream.md. */
export class CreateSubAccountDto {
  @Text({ max: 200, description: 'Name of the sub-account.', example: 'Branch office' }) name!: string;

  @Email('Email address of the holder.') email!: string;

  @Text({ max: 100, required: false, description: 'First name of the holder.', example: 'Ada' })
  firstName?: string;

  @Text({ max: 100, required: false, description: 'Last name of the holder.', example: 'Lovelace' })
  lastName?: string;

  @PhoneNumber({ required: false, description: 'Phone number of the holder.', line: 'any' })
  phoneNumber?: string;

  @FreeForm('Your own notes. The upstream stores them unchanged.') meta?: object;
}

/** See "GET /sub-account/get?id=" in docs/reference/upstream.md. */
export class SubAccountQuery {
  @Text({
    max: 100,
    description: 'ID of the sub-account, from `/sub-account/list`.',
    example: 'sub-account-1',
  })
  id!: string;
}
