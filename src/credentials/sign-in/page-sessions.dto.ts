import { ApiProperty } from '@nestjs/swagger';
import { Text } from '../../http/validation/rules/rules';
import { Scope, SCOPES } from '../../operations/catalogue/scopes';
import { described, INSTANT, nullable, TEXT, UUID } from '../../platform/schema/fields';

/** The session of a person on the pages of a client. */
export class PageSessionRecord {
  @ApiProperty({ type: 'string', description: 'Name of the client.', example: 'wallet' }) client!: string;
  @described(UUID, 'ID of the person in records.') person_id!: string;
  @described({ enum: SCOPES, isArray: true }, 'Scopes of the session.') scopes!: Scope[];
  @described(TEXT, 'Token for the header `X-CSRF-Token`.') csrf_token!: string;
  @nullable(INSTANT, 'When the person signed in at the provider, if it says it.') signed_in_at!:
    | string
    | null;
  @described(INSTANT, 'When it ends at the latest.') ends_at!: string;
}

/** The page to show after a sign-out. */
export class PageSignOutQuery {
  @Text({
    max: 2_000,
    required: false,
    description: 'The page to show after signing out at the provider: a URL of an origin of the client.',
  })
  return_to?: string;
}
