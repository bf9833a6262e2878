import { ApiProperty } from '@nestjs/swagger';
import { MAX_PAGE, PageRequest, USUAL_PAGE } from '../../history/records/page';
import { Instant, OneOf, PageSize, PageToken, Uuid, WholeNumber } from '../../http/validation/query-rules';
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

export class FindingSelection implements FindingFilters {
  @OneOf([...STATES, 'any'], 'What was decided last; without it, those that wait: `open` and `reopened`.')
  state?: State | 'any';

  @OneOf(CATEGORY_NAMES, 'What kind of difference.')
  category?: Category;

  @OneOf(SEVERITIES, 'How bad; it follows from the category.')
  severity?: Severity;

  @Uuid('Seen by this run.')
  run_id?: string;

  @Uuid('About this call.')
  call_id?: string;

  @Instant('The payment was made at this instant or later.')
  from?: string;

  @Instant('The payment was made before this instant.')
  to?: string;

  @WholeNumber({ min: 0, max: 36_500, description: 'Found at least so many days ago.', example: 7 })
  min_age_days?: number;

  @WholeNumber({ min: 0, max: 36_500, description: 'Found at most so many whole days ago.', example: 30 })
  max_age_days?: number;
}

export class FindingSearch extends FindingSelection implements PageRequest {
  @PageSize({ max: MAX_PAGE, usual: USUAL_PAGE })
  page_size?: number;

  @PageToken()
  page_token?: string;
}

export const DELIMITERS = { comma: ',', semicolon: ';' } as const;

export class FindingsCsvSearch extends FindingSelection {
  @OneOf(
    Object.keys(DELIMITERS),
    'Between cells; spreadsheets of countries that write 1,5 want `semicolon`. Else `comma`.',
  )
  delimiter?: keyof typeof DELIMITERS;
}

/** How ours and theirs differ in one field. */
export class FindingField {
  @text('Its name.', { example: 'amount_usd' }) field!: string;
  @nullable('string', 'On record here; null: nothing. People are masked.') ours!: string | null;
  @nullable('string', 'As the upstream says; null: nothing. People are masked.') theirs!: string | null;
}

/** What was decided about a finding. */
export class FindingStep {
  @text('Its id.', UUID) id!: string;
  @ApiProperty({ enum: STATES.slice(1), description: 'Its state from then on.' }) state!: State;
  @text('Why.') reason!: string;
  @text('What the finding added to the difference when this was decided, in US dollars.', USD) impact_usd!: string;
  @nullable('string', 'The run that decided it by itself; null: somebody did.', UUID) run_id!: string | null;
  @nullable('string', "Whoever decided: the client's id.", UUID) client_id!: string | null;
  @nullable('string', 'The key that was used.', UUID) key_id!: string | null;
  @nullable('string', 'The person, as far as it is known.') actor!: string | null;
  @text("When, by the database's clock.", INSTANT) decided_at!: Date;
}

/** A difference between our history and the upstream's. */
export class FindingRecord {
  @text('Its id.', UUID) id!: string;
  @ApiProperty({ enum: CATEGORY_NAMES, enumName: 'FindingCategory', description: 'What kind of difference.' })
  category!: Category;
  @ApiProperty({ enum: [...SEVERITIES], description: 'How bad; it follows from the category.' }) severity!: Severity;
  @text('What it says, for people.') title!: string;
  @text('What to do about it, and what not.') suggested_action!: string;
  @text('What it is about: the same whichever run sees it.') subject!: string;
  @ApiProperty({ enum: STATES, enumName: 'FindingState', description: 'What was decided last.' }) state!: State;
  @text("What it adds to the upstream's total less ours, in US dollars; decimal text, exact.", USD) impact_usd!: string;
  @ApiProperty({ type: [FindingField], description: 'What differs.' }) fields!: FindingField[];
  @text('When the payment was made.', INSTANT) occurred_at!: Date;
  @text('When it was found.', INSTANT) found_at!: Date;
  @nullable('integer', 'Of what waits, for how many whole days; else null.') age_days!: number | null;
  @nullable('string', 'The call that it is about; null: there is none on record here.', UUID) call_id!: string | null;
  @nullable('integer', "The payment's place in it, from 0.") position!: number | null;
  @nullable('string', 'The reference the upstream gave.') upstream_ref!: string | null;
  @nullable('string', "The upstream's id of the transaction.") upstream_id!: string | null;
  @nullable('string', "The upstream's id of the batch.") batch_ref!: string | null;
  @nullable('string', 'The wallet that it is about.') wallet_id!: string | null;
  @text('The run that found it.', UUID) found_by!: string;
  @text('The run that saw it last.', UUID) seen_by!: string;
  @text('When it was seen last.', INSTANT) seen_at!: Date;
  @orNull('FindingStep', 'What was decided last; null: nothing yet.') last_step!: FindingStep | null;
  @text(
    'Another one after it was decided about or is seen with another impact: a decision that names it is on what you saw.',
  )
  version!: string;
}

export class FindingPage {
  @ApiProperty({ type: [FindingRecord], description: 'Newest first.' }) findings!: FindingRecord[];
  @nullable('string', 'For `page_token`; null on the last page.') next_page_token!: string | null;
}

/** A finding as one run saw it. */
export class FindingSight {
  @text('The run.', UUID) run_id!: string;
  @text('When.', INSTANT) seen_at!: Date;
  @ApiProperty({ type: 'boolean', description: 'Whether that run looked back: it decided nothing.' })
  historical!: boolean;
  @text('What it added to the difference then, in US dollars.', USD) impact_usd!: string;
  @ApiProperty({ type: [FindingField], description: 'What differed.' }) fields!: FindingField[];
  @ApiProperty({ type: FindingEvidence, description: 'The rows it rests on.' }) evidence!: FindingEvidence;
}

export class FindingStory extends FindingRecord {
  @text('What was seen, for people.') meaning!: string;
  @ApiProperty({ type: FindingEvidence, description: 'The rows it rests on, as seen last.' })
  evidence!: FindingEvidence;
  @ApiProperty({ type: [FindingSight], description: 'How runs saw it: the newest hundred.' }) sights!: FindingSight[];
  @ApiProperty({ type: 'integer', description: 'How many runs saw it.' }) sight_count!: number;
  @ApiProperty({ type: [FindingStep], description: 'What was decided, oldest first.' }) steps!: FindingStep[];
}
