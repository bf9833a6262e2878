import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ACTION_NAMES } from './actions';
import { FIRST_CALL_STATES, MAX_FAULTS } from './problem';
import { PROBLEMS } from './problems';

const CODES = Object.keys(PROBLEMS);

/** The upstream's answer, as far as its envelope is known. */
export class AnyEnvelope {
  @ApiProperty({ enum: ['success', 'error'], description: 'An error may come with HTTP 200 too: look here first.' })
  status!: string;

  @ApiPropertyOptional({
    oneOf: [
      { type: 'object', additionalProperties: true },
      { type: 'array', items: {} },
    ],
    description: "The operation's result. A `data.error` other than `None` says that it failed.",
  })
  data?: unknown;

  @ApiPropertyOptional({ type: 'string', description: 'Error text when `status` is `error`.' })
  error?: string;
}

/** What an app gets whose payout waits for an approval. */
export class PendingApproval {
  @ApiProperty({ enum: ['pending_approval'] })
  status!: string;

  @ApiProperty({ type: 'string', format: 'uuid', description: '`GET /v1/calls/{id}` says what becomes of it.' })
  call_id!: string;
}

export class FaultDto {
  @ApiProperty({
    type: 'string',
    description: 'JSON pointer (RFC 6901); empty: the whole body.',
    example: '/airtimes/0/phoneNumber',
  })
  pointer!: string;

  @ApiProperty({ type: 'string', description: 'What is wrong, and what to send instead.' })
  detail!: string;
}

/** The members of every error, in the interface's envelope and in problem details. */
class ErrorMembers {
  @ApiProperty({ type: 'string', description: 'What happened and what to do, with the first of the faults.' })
  error!: string;

  @ApiProperty({ enum: CODES, description: 'The same for programs.', example: 'invalid_request' })
  code!: string;

  @ApiProperty({
    enum: [...ACTION_NAMES],
    description:
      'What a program does about it. `retry_same_key`: nothing was done, or the first answer will be given again; send the ' +
      'same request again after `Retry-After`, with the same key if it had one. `new_key`: to try again, send it with a new ' +
      'Idempotency-Key. `fix_request`: change the request. `wait`: it is in progress, held or in doubt; do not send it again, ' +
      'ask `GET /v1/calls/{id}` later. `ask`: a person has to decide or to change something.',
  })
  action!: string;

  @ApiProperty({ type: 'string', format: 'uuid', description: 'The `X-Call-Id` of this answer; the id of its record.' })
  call_id!: string;

  @ApiPropertyOptional({ type: 'string', format: 'uuid', description: 'The call that this request repeats.' })
  first_call_id?: string;

  @ApiPropertyOptional({
    enum: FIRST_CALL_STATES,
    description: 'What became of that call so far. Of a `suspected_duplicate`.',
  })
  first_call_state?: string;

  @ApiPropertyOptional({
    type: [FaultDto],
    maxItems: MAX_FAULTS,
    description: `The faults of the request, the first ${MAX_FAULTS} of them.`,
  })
  errors?: FaultDto[];

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    description: 'How many faults the request has, beside `errors`.',
  })
  errors_total?: number;
}

/** Our own errors, in the interface's envelope. */
export class ErrorEnvelope extends ErrorMembers {
  @ApiProperty({ enum: ['error'] })
  status!: string;
}

/** Our own errors outside the interface (RFC 9457). */
export class ProblemDetails extends ErrorMembers {
  @ApiProperty({ type: 'string', enum: ['about:blank'] })
  type!: string;

  @ApiProperty({ type: 'string', description: 'The code in words.', example: 'call not found' })
  title!: string;

  @ApiProperty({ type: 'integer', description: 'HTTP status.' })
  status!: number;

  @ApiProperty({ type: 'string', description: 'What happened and what to do.' })
  detail!: string;
}
