import { Account, Instant, OneOf, PageSize, PageToken, Uuid } from '../../http/validation/rules/query-rules';
import { NotForwarded } from '../../http/validation/rules/rules';
import {
  BOOLEAN,
  described,
  INSTANT,
  INTEGER,
  nullable,
  ref,
  TEXT,
  UUID,
} from '../../platform/schema/fields';
import { nextPageToken, PageRequest } from '../../platform/schema/page';
import { STEPS } from '../matching/comparison';
import { TotalsRecord } from '../matching/totals.dto';
import { RESULTS, Result } from './run-reader';

@NotForwarded()
export class NewRunDto {
  @Account('The upstream account to compare. Default: `main`.') account?: string;

  @Instant('Start of the period. Payments from this time on are compared.', { required: true }) from!: string;

  @Instant('End of the period, exclusive. It is not in the future, and at most 400 days after `from`.', {
    required: true,
  })
  to!: string;

  @Instant(
    'Compares our records as they stood at this time with the newest listing that was known then. Such a ' +
      'run is historical and changes the state of no finding. To repeat an earlier run, send its `as_of`. ' +
      'Default: now.',
  )
  as_of?: string;

  @Uuid("The statement to compare with, instead of the upstream's own listing.") statement_id?: string;
}

export class RunSearch implements PageRequest {
  @Account('Only runs of this upstream account.') account?: string;

  @OneOf(RESULTS, 'Only runs with this result.') result?: string;

  @PageSize() page_size?: number;

  @PageToken() page_token?: string;
}

export const RUN_STATES = ['queued', 'running', 'interrupted', 'ended'] as const;
export type RunState = (typeof RUN_STATES)[number];

export class RunProgressRecord {
  @described({ enum: ['sources', ...STEPS] }, 'The current step. The steps are in this order.') step!: string;
  @described(INTEGER, 'Completed part of the step.') done!: number;
  @nullable(INTEGER, 'Size of the step. Null if unknown.') of!: number | null;
}

export class RunAuthorRecord {
  @nullable(TEXT, "The client's name. Null if it was deleted.") client!: string | null;
  @nullable(UUID, "The key's ID.") key_id!: string | null;
  @nullable(TEXT, 'The person, where known. Masked without `audit:pii`.') actor!: string | null;
}

class RunSettingsRecord {
  @described(TEXT, 'Amounts that differ by this or less are equal, in US dollars.')
  amount_tolerance_usd!: string;
  @described(TEXT, 'The same for balances of wallets.') balance_tolerance_usd!: string;
  @described(TEXT, 'Expected fee, in percent of the amount.') fee_percent!: string;
  @described(TEXT, 'Fees that differ by this or less are as expected, in US dollars.')
  fee_tolerance_usd!: string;
  @described(INTEGER, 'Maximum number of seconds between the two times of one payment.')
  time_tolerance_seconds!: number;
  @described(INTEGER, 'The number of seconds after which a payment is late.') late_after_seconds!: number;
  @described({ type: [String], example: ['settled_t2=paid'] }, 'The configured status words.')
  status_words!: string[];
}

/** A comparison of our records with the upstream's. */
export class RunRecord {
  @described(UUID, "The run's ID.") id!: string;
  @described(TEXT, 'The upstream account.') account!: string;
  @described(INSTANT, 'Start of the period.') from!: Date;
  @described(INSTANT, 'End of the period, exclusive.') to!: Date;
  @described(INSTANT, 'Our records are compared as they stood at this time.') as_of!: Date;
  @described(BOOLEAN, 'Whether the run is historical: it changes the state of no finding.')
  historical!: boolean;
  @nullable(UUID, "The statement that it compares with. Null for the upstream's own listing.")
  statement_id!: string | null;
  @described(
    { enum: RUN_STATES },
    '`queued`: the run waits for a worker, to begin or to continue with the same result. `interrupted`: ' +
      'no worker took it within a day. Start a new run.',
  )
  state!: RunState;
  @nullable({ enum: RESULTS }, 'Null until the run has ended.') result!: Result | null;
  @nullable(TEXT, 'Reason for a missing result, and advice.') failure!: string | null;
  @nullable(ref('RunProgressRecord'), 'The progress. Null if unknown or once the run has ended.')
  progress!: RunProgressRecord | null;
  @described({ type: RunSettingsRecord }, "The run's tolerances and expectations.")
  settings!: RunSettingsRecord;
  @nullable(INSTANT, 'Its time in the schedule. Null if it was requested.')
  due_at!: Date | null;
  @nullable(ref('RunAuthorRecord'), 'The requester. Null for the schedule.')
  started_by!: RunAuthorRecord | null;
  @described(INSTANT, 'Start time.') started_at!: Date;
  @nullable(INSTANT, 'End time.') ended_at!: Date | null;
  @nullable(UUID, 'The reading of the upstream, or the statement, that it compared with.')
  read_id!: string | null;
  @nullable(
    ref('TotalsRecord'),
    'Counts and sums of both sides, of matches and of findings, also by day. Null without a result.',
  )
  totals!: TotalsRecord | null;
}

export class RunPage {
  @described({ type: [RunRecord] }, 'Newest first.') runs!: RunRecord[];
  @nextPageToken() next_page_token!: string | null;
}
