import { ApiProperty } from '@nestjs/swagger';
import { described, INSTANT, UUID } from '../../platform/schema/fields';
import { NotForwarded } from '../../http/validation/nothing.dto';
import { Uuid } from '../../http/validation/query-rules';
import { Text } from '../../http/validation/rules';
import { RevokedPerson } from '../../access/people/person-revocations.service';

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
