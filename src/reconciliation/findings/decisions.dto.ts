import { OneOf } from '../../http/validation/rules/query-rules';
import { field, ListOf, NotForwarded, Slug, Text } from '../../http/validation/rules/rules';
import { StepState } from '../../journal/reconciliation/finding-steps';
import { described } from '../../platform/schema/fields';
import { State, STATES } from './findings.dto';

export const MAX_DECISIONS = 10_000;
/** Maximum size of the body in bytes. It fits all decisions, with reasons of a few sentences each. */
export const MAX_DECISIONS_BYTES = 8 * 1_048_576;

const DECIDABLE: readonly StepState[] = ['explained', 'resolved', 'accepted', 'reopened'];

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export class FindingDecisionDto {
  @field(
    {
      required: true,
      must: 'must be the ID of a finding, a UUID',
      test: (value) => typeof value === 'string' && UUID.test(value),
    },
    { type: 'string', format: 'uuid', description: "The finding's ID." },
  )
  finding_id!: string;

  @OneOf(
    DECIDABLE,
    '`explained`: the reason is known, and nothing is owed. `resolved`: the difference was corrected. ' +
      '`accepted`: the loss or gain is permanent. `reopened`: the earlier decision no longer applies.',
    { required: true },
  )
  state!: StepState;

  @Text({
    max: 1_000,
    description: 'Reason for the decision, which is recorded.',
    example: 'Reversed by the provider on 21 November.',
  })
  reason!: string;

  @Slug({
    required: false,
    pattern: /^v[0-9a-f]{12}$/,
    must: 'must be the version of the finding, as you read it',
    description:
      'The `version` that you read. If the finding now has another version, the decision is rejected.',
    example: 'v3f2a91c04b7d',
  })
  version?: string;
}

/** One of several decisions, with its position for error messages. */
export interface LocatedDecision extends FindingDecisionDto {
  /** JSON pointer. */
  pointer: string;
  /** Prefix of its error messages, such as `row 17: `. */
  prefix: string;
}

@NotForwarded()
export class FindingDecisionsDto {
  @ListOf(() => FindingDecisionDto, {
    max: MAX_DECISIONS,
    description: 'The decisions. All of them apply, or none.',
  })
  decisions!: FindingDecisionDto[];
}

class DecidedFinding {
  @described({ type: 'string', format: 'uuid' }, "The finding's ID.") finding_id!: string;
  @described({ enum: STATES }, "The finding's new state.") state!: State;
}

export class FindingDecisions {
  @described({ type: 'integer' }, 'The number of decisions.') decided!: number;
  @described({ type: 'integer' }, 'The number of rows without a decision in a CSV file. Otherwise 0.')
  ignored!: number;
  @described({ type: [DecidedFinding] }, 'In the order of the request.') findings!: DecidedFinding[];
}
