import { ApiProperty } from '@nestjs/swagger';
import { Text } from '../../http/validation/rules/rules';
import { Scope, SCOPES } from '../../operations/catalogue/scopes';
import { BOOLEAN, described, INSTANT, nullable, TEXT, UUID } from '../../platform/schema/fields';

/** The session of a console user. */
export class SessionRecord {
  @ApiProperty({ type: 'string', description: 'Name of the client.', example: 'auditor' }) client!: string;
  @described(UUID, 'Key of the sign-in.') key_id!: string;
  @nullable(TEXT, 'ID of the owner of the key. Null for a shared key.') person!: string | null;
  @described({ enum: ['key', 'provider'] }, 'Method of the sign-in.') signed_in_with!: 'key' | 'provider';
  @described({ enum: SCOPES, isArray: true }, 'Scopes of the session.') scopes!: Scope[];
  @described({ type: 'integer', minimum: 1 }, 'Minutes of inactivity after which the session ends.')
  idle_minutes!: number;
  @described(TEXT, 'Token for the header `X-CSRF-Token` of every state-changing request.')
  csrf_token!: string;
  @described(BOOLEAN, 'Whether the upstream is the sandbox of this proxy.') sandbox!: boolean;
}

/** A session that has ended. */
export class SignedOutRecord {
  @nullable(
    { type: 'string', format: 'uri' },
    'URL of the sign-out at the OpenID provider. Null without a session there.',
  )
  end_session_url!: string | null;
}

/** The session of a person on the pages of a client. */
export class PageSessionRecord {
  @ApiProperty({ type: 'string', description: 'Name of the client.', example: 'wallet' }) client!: string;
  @described(UUID, 'ID of the person in records.') person_id!: string;
  @described({ enum: SCOPES, isArray: true }, 'Scopes of the session.') scopes!: Scope[];
  @described(TEXT, 'Token for the header `X-CSRF-Token`.') csrf_token!: string;
  @nullable(INSTANT, 'Time of the sign-in at the provider. Null if unknown.') signed_in_at!: string | null;
  @described(INSTANT, 'Latest end of the session.') ends_at!: string;
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
