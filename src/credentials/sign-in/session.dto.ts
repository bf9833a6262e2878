import { ApiProperty } from '@nestjs/swagger';
import { Scope, SCOPES } from '../../operations/catalogue/scopes';
import { BOOLEAN, described, nullable, TEXT, UUID } from '../../platform/schema/fields';

/** The session of a console user. */
export class SessionRecord {
  @ApiProperty({ type: 'string', description: 'Name of the client.', example: 'auditor' }) client!: string;
  @described(UUID, 'Key that the user signed in with.') key_id!: string;
  @nullable(TEXT, 'ID of the person who owns the key, if any.') person!: string | null;
  @described({ enum: ['key', 'provider'] }, 'How the user signed in.') signed_in_with!: 'key' | 'provider';
  @described({ enum: SCOPES, isArray: true }, 'Scopes of the session.') scopes!: Scope[];
  @described({ type: 'integer', minimum: 1 }, 'Minutes of inactivity after which the session ends.')
  idle_minutes!: number;
  @described(
    TEXT,
    'Token for the header `X-CSRF-Token`, which every state-changing request of a cookie session must send.',
  )
  csrf_token!: string;
  @described(BOOLEAN, 'Whether the upstream is the sandbox of this proxy.') sandbox!: boolean;
}

/** A session that has ended. */
export class SignedOutRecord {
  @nullable(
    { type: 'string', format: 'uri' },
    'Where the user signs out at the OpenID provider. Null: there is nothing to sign out of.',
  )
  end_session_url!: string | null;
}
