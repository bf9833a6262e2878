import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ACTION_NAMES } from './actions';
import { FIRST_CALL_STATES, MAX_FAULTS } from './problem';
import { PROBLEMS } from './problems';

const CODES = Object.keys(PROBLEMS);

/** The upstream's answer, as far as its envelope is known. */
export class AnyEnvelope {
  @ApiProperty({
    enum: ['success', 'error'],
    description: 'The result of the operation. Check it first: the upstream also sends errors with HTTP 200.',
  })
  status!: string;

  @ApiPropertyOptional({
    oneOf: [
      { type: 'object', additionalProperties: true },
      { type: 'array', items: {} },
    ],
    description: "The operation's result. It failed if `data.error` is anything but `None`.",
  })
  data?: unknown;

  @ApiPropertyOptional({ type: 'string', description: 'The error text, if `status` is `error`.' })
  error?: string;
}

/** What an app gets whose payout waits for an approval. */
export class PendingApproval {
  @ApiProperty({ enum: ['pending_approval'] })
  status!: string;

  @ApiProperty({
    type: 'string',
    format: 'uuid',
    description: 'The ID of the call. `GET /v1/calls/{id}` shows its state.',
  })
  call_id!: string;
}

export class FaultDto {
  @ApiProperty({
    type: 'string',
    description: 'JSON pointer (RFC 6901) to the field. Empty for the whole body.',
    example: '/airtimes/0/phoneNumber',
  })
  pointer!: string;

  @ApiProperty({ type: 'string', description: 'What is wrong, and what to send instead.' })
  detail!: string;
}

/** The members of every error, in the interface's envelope and in problem details. */
class ErrorMembers {
  @ApiProperty({ type: 'string', description: 'What happened and what to do, with the first entry of `errors`.' })
  error!: string;

  @ApiProperty({ enum: CODES, description: 'The error code, for programs.', example: 'invalid_request' })
  code!: string;

  @ApiProperty({
    enum: [...ACTION_NAMES],
    description:
      'What your program does next. `retry_same_key`: nothing was done, or the first answer is replayed. Send the ' +
      'same request again after `Retry-After`, with the same key if it had one. `new_key`: to try again, send it with a new ' +
      'Idempotency-Key. `fix_request`: change the request. `wait`: it is in progress, held, or in doubt. Do not send it ' +
      'again. Read `GET /v1/calls/{id}` later. `ask`: a person has to decide or to change something.',
  })
  action!: string;

  @ApiProperty({
    type: 'string',
    format: 'uuid',
    description: 'The ID of the record of this request. `X-Call-Id` has it, too.',
  })
  call_id!: string;

  @ApiPropertyOptional({ type: 'string', format: 'uuid', description: 'The call that this request repeats.' })
  first_call_id?: string;

  @ApiPropertyOptional({
    enum: FIRST_CALL_STATES,
    description: 'The state of that call. Present for `suspected_duplicate`.',
  })
  first_call_state?: string;

  @ApiPropertyOptional({
    type: [FaultDto],
    maxItems: MAX_FAULTS,
    description: `The errors in the request, at most the first ${MAX_FAULTS}.`,
  })
  errors?: FaultDto[];

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    description: 'The number of errors in the request. `errors` may list fewer.',
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
