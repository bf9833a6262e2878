import { ApiProperty } from '@nestjs/swagger';
import { Scope, SCOPES } from '../../operations/scopes';

/** Who is signed in to the console. */
export class SessionRecord {
  @ApiProperty({ type: 'string', description: "The client's name.", example: 'auditor' }) client!: string;
  @ApiProperty({ type: 'string', format: 'uuid', description: 'The key that it began with.' }) key_id!: string;
  @ApiProperty({
    anyOf: [{ type: 'string' }, { type: 'null' }],
    description: "Whose key it is, where it is one person's.",
  })
  person!: string | null;
  @ApiProperty({ enum: SCOPES, isArray: true, description: 'What it may do.' }) scopes!: Scope[];
  @ApiProperty({ type: 'integer', minimum: 1, description: 'Minutes of inactivity after which the session ends.' })
  idle_minutes!: number;
  @ApiProperty({
    type: 'string',
    description:
      'Token for the header `X-CSRF-Token`, which every state-changing request of a cookie session must send.',
  })
  csrf_token!: string;
  @ApiProperty({ type: 'boolean', description: 'Whether the upstream is the sandbox of this proxy.' })
  sandbox!: boolean;
}
