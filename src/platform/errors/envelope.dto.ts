import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { described, INTEGER, optional, ref, TEXT, UUID } from '../schema/fields';
import { ACTION_MEANINGS, ACTION_NAMES } from './kinds';
import { FIRST_CALL_STATES, MAX_FAULTS } from './problem';
import { PROBLEMS } from './problems';

const CODES = Object.keys(PROBLEMS);
const MEANINGS = Object.entries(ACTION_MEANINGS).map(([action, meaning]) => `\`${action}\`: ${meaning}`);

/**
 * The envelope of the upstream's answers. `data` depends on the operation
 * (src/operations/catalogue/answers.ts). For a replay without a stored answer, the proxy states the outcome.
 */
export class AnyEnvelope {
  @ApiProperty({
    enum: ['success', 'error'],
    description:
      'The result of the operation. Check it first, because the upstream sends errors with HTTP 200, too. ' +
      'A success has failed if its `data.error` is anything but `None`.',
  })
  status!: string;

  @optional(TEXT, 'The error text, if `status` is `error`.') error?: string;

  @optional(
    TEXT,
    'The outcome of a replay without a stored answer: the upstream gave none, or it was erased.',
  )
  message?: string;

  @optional(UUID, 'The ID of that call. Present with `message`.') call_id?: string;

  @ApiPropertyOptional({
    type: 'array',
    items: ref('FoundPayout'),
    description: 'The payouts of that call, each with its transaction and its state.',
  })
  transactions?: unknown[];
}

/** The upstream's own error, in one of its two forms. It may have other fields. */
export class UpstreamError {
  @ApiProperty({ enum: ['error'] }) status!: string;

  @ApiPropertyOptional({
    type: 'string',
    description: 'The error text. Documented for `POST /send`, and observed for other operations.',
    example: 'ERROR-REDEEMED',
  })
  error?: string;

  @ApiPropertyOptional({
    type: 'string',
    description: 'The kind of error, instead of `error`. Observed.',
    example: 'Transaction Error',
  })
  type?: string;

  @ApiPropertyOptional({
    type: 'string',
    description: 'The code. Present with `type`.',
    example: 'TRANSACTION_FAILED',
  })
  code?: string;

  @ApiPropertyOptional({
    type: 'string',
    description: 'The error text. Present with `type`.',
    example: 'fail to send bulk airtime',
  })
  message?: string;
}

/** The response to a call that waits for an approval, or for its turn (`Prefer: respond-async`). */
export class AcceptedCall {
  @ApiProperty({ enum: ['pending_approval', 'queued'] }) status!: string;

  @described(UUID, 'The ID of the call. `GET /v1/calls/{id}` shows its state.') call_id!: string;
}

export class FaultDto {
  @ApiProperty({
    type: 'string',
    description: 'JSON pointer (RFC 6901) to the field. Empty for the whole body.',
    example: '/airtimes/0/phoneNumber',
  })
  pointer!: string;

  @described(TEXT, 'The fault, and the value to send instead.') detail!: string;
}

/** The members of every error, in the interface's envelope and in problem details. */
class ErrorMembers {
  @described(TEXT, 'Explanation and next step, with the first entry of `errors`.') error!: string;

  @ApiProperty({ enum: CODES, description: 'The error code, for programs.', example: 'invalid_request' })
  code!: string;

  @ApiProperty({
    enum: [...ACTION_NAMES],
    description: ['Next action for your program.', ...MEANINGS].join('\n\n'),
  })
  action!: string;

  @described(UUID, 'The ID of the record of this request. `X-Call-Id` has it, too.') call_id!: string;

  @optional(UUID, 'The call that this request repeats.') first_call_id?: string;

  @optional({ enum: FIRST_CALL_STATES }, 'The state of that call. Present for `suspected_duplicate`.')
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
  @ApiProperty({ enum: ['error'] }) status!: string;
}

/** Our own errors outside the interface (RFC 9457). */
export class ProblemDetails extends ErrorMembers {
  @ApiProperty({ type: 'string', enum: ['about:blank'] }) type!: string;

  @ApiProperty({ type: 'string', description: 'The code in words.', example: 'call not found' })
  title!: string;

  @described(INTEGER, 'HTTP status.') status!: number;

  @described(TEXT, 'Explanation and next step.') detail!: string;
}
