import { ApiProperty } from '@nestjs/swagger';
import { DelimiterName, DELIMITERS } from '../../http/answers/csv';
import { MAX_PAGE, PageRequest, USUAL_PAGE } from '../../history/records/page';
import { Account, Instant, OneOf, PageSize, PageToken, Uuid, WholeNumber } from '../../http/validation/query-rules';
import { Category, CATEGORY_NAMES, SEVERITIES, Severity } from './categories';
import { FindingEvidence } from './evidence.dto';
import { FindingFilters } from './read';

export const STATES = ['open', 'explained', 'resolved', 'accepted', 'reopened'] as const;
export type State = (typeof STATES)[number];

const nullable = (type: 'string' | 'integer', description: string, more: object = {}) =>
  ApiProperty({ anyOf: [{ type, ...more }, { type: 'null' }], description });
const text = (description: string, more: object = {}) => ApiProperty({ type: 'string', description, ...more });
const orNull = (name: string, description: string) =>
  ApiProperty({ anyOf: [{ $ref: `#/components/schemas/${name}` }, { type: 'null' }], description });
const USD = { pattern: '^-?\\d+(\\.\\d+)?$', example: '1.5' };
const UUID = { format: 'uuid' };
const INSTANT = { format: 'date-time' };

class FindingSelection implements FindingFilters {
  @Account('Only findings of this upstream account.')
  account?: string;

  @OneOf(
    [...STATES, 'any'],
    'The state: the latest decision. Default: `open` and `reopened`, the findings that wait for a decision.',
  )
  state?: State | 'any';

  @OneOf(CATEGORY_NAMES, 'Category of the difference.')
  category?: Category;

  @OneOf(SEVERITIES, 'Severity. It follows from the category.')
  severity?: Severity;

  @Uuid('The ID of a run that saw the finding.')
  run_id?: string;

  @Uuid('The ID of the call that the finding is about.')
  call_id?: string;

  @Instant('Payments made at this time or later.')
  from?: string;

  @Instant('Payments made before this time.')
  to?: string;

  @WholeNumber({ min: 0, max: 36_500, description: 'Found at least this many days ago.', example: 7 })
  min_age_days?: number;

  @WholeNumber({ min: 0, max: 36_500, description: 'Found at most this many whole days ago.', example: 30 })
  max_age_days?: number;
}

export class FindingSearch extends FindingSelection implements PageRequest {
  @PageSize({ max: MAX_PAGE, usual: USUAL_PAGE })
  page_size?: number;

  @PageToken()
  page_token?: string;
}

export class FindingsCsvSearch extends FindingSelection {
  @OneOf(
    Object.keys(DELIMITERS),
    'Delimiter between cells. Default: `comma`. Spreadsheets with decimal commas need `semicolon`.',
  )
  delimiter?: DelimiterName;
}

/** A field whose value differs between our records and the upstream's. */
export class FindingField {
  @text("The field's name.", { example: 'amount_usd' }) field!: string;
  @nullable('string', 'Our recorded value. Null if there is none. People are masked.') ours!: string | null;
  @nullable('string', "The upstream's value. Null if there is none. People are masked.") theirs!: string | null;
}

/** A decision about a finding. */
export class FindingStep {
  @text("The decision's ID.", UUID) id!: string;
  @ApiProperty({ enum: STATES.slice(1), description: "The finding's state after the decision." }) state!: State;
  @text('Why.') reason!: string;
  @text("The finding's impact at the time of the decision, in US dollars.", USD) impact_usd!: string;
  @nullable('string', 'The run that made the decision. Null if somebody else did.', UUID) run_id!: string | null;
  @nullable('string', 'The ID of the client that made the decision.', UUID) client_id!: string | null;
  @nullable('string', 'The ID of its key.', UUID) key_id!: string | null;
  @nullable('string', 'The person, where known.') actor!: string | null;
  @text("Time of the decision, by the database's clock.", INSTANT) decided_at!: Date;
}

/** A difference between our history and the upstream's. */
export class FindingRecord {
  @text("The finding's ID.", UUID) id!: string;
  @text('The upstream account.') account!: string;
  @ApiProperty({ enum: CATEGORY_NAMES, enumName: 'FindingCategory', description: 'Category of the difference.' })
  category!: Category;
  @ApiProperty({ enum: [...SEVERITIES], description: 'Severity. It follows from the category.' }) severity!: Severity;
  @text('A readable title.') title!: string;
  @text('Advice: what to do, and what not to do.') suggested_action!: string;
  @text('Identifies the difference. It is the same in every run.') subject!: string;
  @ApiProperty({ enum: STATES, enumName: 'FindingState', description: 'The state: the latest decision.' })
  state!: State;
  @text("The impact: how much it adds to the upstream's total minus ours, in US dollars. Exact decimal text.", USD)
  impact_usd!: string;
  @ApiProperty({ type: [FindingField], description: 'The fields that differ.' }) fields!: FindingField[];
  @text('Time of the payment.', INSTANT) occurred_at!: Date;
  @text('Time when it was found.', INSTANT) found_at!: Date;
  @nullable('integer', 'Whole days since it was found, while it waits for a decision. Otherwise null.') age_days!:
    | number
    | null;
  @nullable('string', 'The ID of the call. Null if our records have none.', UUID) call_id!: string | null;
  @nullable('integer', "The payment's position in the call, from 0.") position!: number | null;
  @nullable('string', "The upstream's reference.") upstream_ref!: string | null;
  @nullable('string', "The upstream's ID of the transaction.") upstream_id!: string | null;
  @nullable('string', "The upstream's ID of the batch.") batch_ref!: string | null;
  @nullable('string', 'The wallet.') wallet_id!: string | null;
  @text('The ID of the run that found it.', UUID) found_by!: string;
  @text('The ID of the run that saw it last.', UUID) seen_by!: string;
  @text('Time when it was seen last.', INSTANT) seen_at!: Date;
  @orNull('FindingStep', 'The latest decision. Null if there is none.') last_step!: FindingStep | null;
  @text(
    'Changes when the finding is decided or its impact changes. Send it with a decision, so that you decide what ' +
      'you saw.',
  )
  version!: string;
}

export class FindingPage {
  @ApiProperty({ type: [FindingRecord], description: 'Newest first.' }) findings!: FindingRecord[];
  @nullable('string', 'The value of `page_token` for the next page. Null on the last page.') next_page_token!:
    | string
    | null;
}

/** A finding as one run saw it. */
export class FindingSight {
  @text("The run's ID.", UUID) run_id!: string;
  @text('When.', INSTANT) seen_at!: Date;
  @ApiProperty({ type: 'boolean', description: 'Whether the run was historical. Such a run changes no states.' })
  historical!: boolean;
  @text('Its impact in this run, in US dollars.', USD) impact_usd!: string;
  @ApiProperty({ type: [FindingField], description: 'The fields that differed.' }) fields!: FindingField[];
  @ApiProperty({ type: FindingEvidence, description: 'The supporting records.' }) evidence!: FindingEvidence;
}

export class FindingStory extends FindingRecord {
  @text('Describes the difference.') meaning!: string;
  @ApiProperty({ type: FindingEvidence, description: 'The supporting records, as seen last.' })
  evidence!: FindingEvidence;
  @ApiProperty({ type: [FindingSight], description: 'The finding in each run. The newest 100 runs.' })
  sights!: FindingSight[];
  @ApiProperty({ type: 'integer', description: 'The number of runs that saw it.' }) sight_count!: number;
  @ApiProperty({ type: [FindingStep], description: 'The decisions, oldest first.' }) steps!: FindingStep[];
}
