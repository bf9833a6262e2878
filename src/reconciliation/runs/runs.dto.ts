import { ApiProperty } from '@nestjs/swagger';
import { MAX_PAGE, PageRequest, USUAL_PAGE } from '../../history/records/page';
import { NotForwarded } from '../../http/validation/nothing.dto';
import { Instant, OneOf, PageSize, PageToken, Uuid } from '../../http/validation/query-rules';
import { STEPS } from '../matching/compare';
import { RESULTS, Result } from './run-reader';
import { TotalsRecord } from './totals.dto';

@NotForwarded()
export class NewRunDto {
  @Instant('Payments from this instant on are compared.', { required: true })
  from!: string;

  @Instant('Payments before this instant are compared. Not in the future, and at most 400 days after `from`.', {
    required: true,
  })
  to!: string;

  @Instant(
    'As our records stood then, compared with the newest listing of the upstream that was known then. Such a run changes ' +
      'the state of no finding. To see again what a run saw, give its `as_of`. Without it: as of now.',
  )
  as_of?: string;

  @Uuid("The statement to compare with, instead of the upstream's own listing.")
  statement_id?: string;
}

export class RunSearch implements PageRequest {
  @OneOf(RESULTS, 'Only runs that ended so.')
  result?: string;

  @PageSize({ max: MAX_PAGE, usual: USUAL_PAGE })
  page_size?: number;

  @PageToken()
  page_token?: string;
}

export const RUN_STATES = ['running', 'interrupted', 'ended'] as const;
export type RunState = (typeof RUN_STATES)[number];

const nullable = (schema: object, description: string) =>
  ApiProperty({ anyOf: [schema, { type: 'null' }], description });
const INSTANT = { type: 'string', format: 'date-time' } as const;
const ID = { type: 'string', format: 'uuid' } as const;
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

export class RunProgressRecord {
  @ApiProperty({ enum: ['sources', ...STEPS], description: 'What it does now, in this order.' }) step!: string;
  @ApiProperty({ type: 'integer', description: 'How much of it is done.' }) done!: number;
  @nullable({ type: 'integer' }, 'Of how much; null: not known.') of!: number | null;
}

export class RunAuthorRecord {
  @nullable({ type: 'string' }, "The client's name; null: it is gone.") client!: string | null;
  @nullable(ID, "The key's id.") key_id!: string | null;
  @nullable({ type: 'string' }, 'The person, where known. Masked without `audit:pii`.') actor!: string | null;
}

export class RunSettingsRecord {
  @ApiProperty({ type: 'string', description: 'Amounts that differ by no more are the same, US dollars.' })
  amount_tolerance_usd!: string;
  @ApiProperty({ type: 'string', description: 'The same for balances of wallets.' }) balance_tolerance_usd!: string;
  @ApiProperty({ type: 'string', description: 'The fee that is expected, in per cent of an amount.' })
  fee_percent!: string;
  @ApiProperty({ type: 'string', description: 'Fees that differ by no more are as expected, US dollars.' })
  fee_tolerance_usd!: string;
  @ApiProperty({ type: 'integer', description: 'How far apart two times of one payment may be, seconds.' })
  time_tolerance_seconds!: number;
  @ApiProperty({ type: 'integer', description: 'From when on a payment is late, seconds.' })
  late_after_seconds!: number;
}

/** A comparison of what is on record here with what the upstream says. */
export class RunRecord {
  @ApiProperty({ ...ID, description: 'Its id.' }) id!: string;
  @ApiProperty({ ...INSTANT, description: 'Payments from here on are compared …' }) from!: Date;
  @ApiProperty({ ...INSTANT, description: '… and up to here.' }) to!: Date;
  @ApiProperty({ ...INSTANT, description: 'Our records count as they stood then.' }) as_of!: Date;
  @ApiProperty({ type: 'boolean', description: 'Whether it is as of then: it changes the state of no finding.' })
  historical!: boolean;
  @nullable(ID, "The statement that it compares with; null: the upstream's own listing.") statement_id!: string | null;
  @ApiProperty({
    enum: RUN_STATES,
    description: '`interrupted`: it was cut off; asked for again within a day, it goes on and gives the same result.',
  })
  state!: RunState;
  @nullable({ enum: RESULTS }, 'Null: it has not ended.') result!: Result | null;
  @nullable({ type: 'string' }, 'Why there is no result, and what to do.') failure!: string | null;
  @nullable(ref('RunProgressRecord'), 'How far it is; null where that is not known, and once it has ended.')
  progress!: RunProgressRecord | null;
  @ApiProperty({ type: RunSettingsRecord, description: 'What it tolerates and expects.' })
  settings!: RunSettingsRecord;
  @nullable(INSTANT, 'The tick of the schedule that it is for; null: somebody asked for it.') due_at!: Date | null;
  @nullable(ref('RunAuthorRecord'), 'Who asked for it; null: the schedule.') started_by!: RunAuthorRecord | null;
  @ApiProperty({ ...INSTANT, description: 'When it began.' }) started_at!: Date;
  @nullable(INSTANT, 'When it ended.') ended_at!: Date | null;
  @nullable(ID, 'What was read of the upstream, or the statement, that it compared with.') read_id!: string | null;
  @nullable(
    ref('TotalsRecord'),
    'Counts and sums of both sides, of matches and of findings, and the same by day. Null where there is no result.',
  )
  totals!: TotalsRecord | null;
}

export class RunPage {
  @ApiProperty({ type: [RunRecord], description: 'Newest first.' }) runs!: RunRecord[];
  @nullable({ type: 'string' }, 'For `page_token`; null on the last page.') next_page_token!: string | null;
}
