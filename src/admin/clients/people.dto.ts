import { ApiProperty } from '@nestjs/swagger';
import { RevokedPerson } from '../../access/people/person-revocations.service';
import { NotForwarded } from '../../http/validation/nothing.dto';
import { Uuid } from '../../http/validation/query-rules';
import { Text } from '../../http/validation/rules';
import { described, INSTANT, nullable, TEXT, UUID } from '../../platform/schema/fields';

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

@NotForwarded()
export class RevokePersonDto {
  @Uuid('ID of the person, instead of the name and the issuer.') person_id?: string;

  @Text({
    max: 500,
    required: false,
    description: 'Subject at the provider (`sub`), or the name that the app uses.',
    example: 'alice',
  })
  name?: string;

  @Text({
    max: 500,
    required: false,
    description: 'The provider (`iss`). Left out: a person whom the app names itself.',
    example: 'https://id.example.com',
  })
  issuer?: string;

  @Text({ max: 1_000, required: false, description: 'Reason for the change, which is recorded.' }) reason?: string;
}

export class RevokedPersonDto implements RevokedPerson {
  @described(UUID, 'ID of the person.') person_id!: string;
  @described(INSTANT, 'Credentials from before are refused.')
  revoked_at!: Date;
  @ApiProperty({ description: 'Nobody of the client had this name. Check it, and the issuer.' }) is_new!: boolean;
}
