import { NotForwarded } from '../../http/validation/nothing.dto';
import { Text } from '../../http/validation/rules';
import { described, nullable, TEXT, UUID } from '../../platform/schema/fields';

const PERSON = 'The ID of a person of a client, or the name of the owner of a personal key or a sign-in';

@NotForwarded()
export class MergePeopleDto {
  @Text({ max: 128, description: `${PERSON}: the person who is kept.`, example: 'ada' }) kept!: string;
  @Text({ max: 128, description: `${PERSON}: the same human.`, example: 'ada.lovelace' }) merged!: string;
  @Text({ max: 1_000, required: false, description: 'Reason for the change, which is recorded.' }) reason?: string;
}

class MergedPersonDto {
  @described(UUID, 'ID of the person.') id!: string;
  @nullable(TEXT, 'Name of the owner of keys. Null: a person of a client.') name!: string | null;
}

export class MergedPeopleDto {
  @described({ type: MergedPersonDto }, 'The person who is kept.') kept!: MergedPersonDto;
  @described({ type: MergedPersonDto }, 'The same human.') merged!: MergedPersonDto;
}
