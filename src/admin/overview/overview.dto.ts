import { ApiProperty } from '@nestjs/swagger';
import { PayoutSums } from '../../history/search/summary.dto';
import { WholeNumber } from '../../http/validation/rules/query-rules';
import { CALL_STATES, CallState, STATE_HELP } from '../../operations/lifecycle/lifecycle';
import {
  BOOLEAN,
  COUNT,
  described,
  INSTANT,
  INTEGER,
  nullable,
  NUMBER,
  ref,
  SIGNED_USD,
  TEXT,
  USD,
  UUID,
} from '../../platform/schema/fields';
import { Cause, CAUSES, StorageLocation, STORAGE_LOCATIONS } from '../../platform/storage/failures';
import { AGES, AgeName } from '../../reconciliation/findings/ageing';
import { Result, RESULTS } from '../../reconciliation/runs/run-reader';
import { RUN_STATES, RunState } from '../../reconciliation/runs/runs.dto';
import { AccountHealth } from '../accounts/accounts.dto';
import { UsageDto } from '../limits/cap';

/** Maximum number of days. Keeps the tables small enough to read at once. */
export const MOST_DAYS = 31;
export const USUAL_DAYS = 7;

export class OverviewSearch {
  @WholeNumber({
    min: 1,
    max: MOST_DAYS,
    example: USUAL_DAYS,
    description: `Number of days (UTC) in \`history\`, including today. Default: ${USUAL_DAYS}.`,
  })
  days?: number;
}

/** Calls of one operation on one day. */
export class OperationDay extends PayoutSums {
  @ApiProperty({ type: 'string', format: 'date', description: 'The day, UTC.', example: '2026-11-20' })
  day!: string;
  @described({ ...TEXT, example: 'POST /payouts/airtime' }, 'Name of the operation.') operation!: string;
  @described(COUNT, 'Number of calls, whatever the outcome.') calls!: number;
  @described(COUNT, 'Number of their payouts.') items!: number;
}

export class OutcomeCount {
  @described({ enum: CALL_STATES }, `The outcome. ${STATE_HELP}`) outcome!: CallState;
  @described(COUNT, 'Number of calls.') calls!: number;
}

/** Response times of the upstream in milliseconds, accurate to two per cent. */
export class OperationLatency {
  @described({ ...TEXT, example: 'POST /payouts/airtime' }, 'Name of the operation.') operation!: string;
  @described(COUNT, 'Number of calls that were sent.') calls!: number;
  @described({ ...NUMBER, minimum: 0 }, 'Median.') p50!: number;
  @described({ ...NUMBER, minimum: 0 }, '95th percentile.') p95!: number;
  @described({ ...NUMBER, minimum: 0 }, '99th percentile.') p99!: number;
}

/** Counts of the last days. */
export class OverviewHistory {
  @described(
    { type: [OperationDay] },
    'Counts by day and operation, newest day first. Only those with calls.',
  )
  days!: OperationDay[];
  @described({ type: [OutcomeCount] }, 'Counts by outcome over these days. Only outcomes that occurred.')
  outcomes!: OutcomeCount[];
  @described({ type: [OperationLatency] }, 'Response times over these days.')
  upstream_ms!: OperationLatency[];
}

/** Calls in doubt of any age: those of `GET /v1/audit/calls?in_doubt=true`. */
export class OverviewInDoubt {
  @described(COUNT, 'Number of calls.') calls!: number;
  @described(USD, 'Their sum in US dollars.') usd!: string;
  @nullable(INSTANT, 'When the oldest became in doubt. Null if there is none.') oldest_since!: Date | null;
}

/** The newest checkpoint of the log. */
export class OverviewSeal {
  @described(COUNT, 'Number of sealed records.') size!: number;
  @described(INSTANT, 'When the newest of them was sealed.') sealed_at!: Date;
}

export class OverviewFindings {
  @described({ enum: AGES.map(({ name }) => name) }, 'Age of the findings, in days.') age!: AgeName;
  @described(COUNT, 'Number of findings.') count!: number;
  @described(USD, 'Sum of their absolute impacts, in US dollars.') impact_usd!: string;
}

/** A wallet of an upstream account, by its newest reading. */
export class OverviewWallet {
  @described(TEXT, 'The upstream account.') account!: string;
  @described(TEXT, 'ID of the wallet.') wallet_id!: string;
  @nullable(TEXT, "The upstream's type of the wallet.") type!: string | null;
  @described(SIGNED_USD, 'Its balance in US dollars.') balance_usd!: string;
  @nullable(USD, 'The balance below which it is low (`WALLET_LOW_BALANCE_USD`). Null if there is none.')
  low_balance_usd!: string | null;
  @described(BOOLEAN, 'Whether its balance is below `low_balance_usd`.') is_low!: boolean;
  @described(USD, 'What left it between the readings of the last 24 hours, in US dollars.')
  spent_usd!: string;
  @nullable(INTEGER, 'Seconds for which the balance lasts at that pace. Null if nothing was spent.')
  runway_seconds!: number | null;
  @described(INSTANT, 'When it was read.') read_at!: Date;
}

/**
 * The newest reconciliation run. With several upstream accounts, that of the account with the least recent
 * one.
 */
export class OverviewRun {
  @described(UUID, 'ID of the run.') id!: string;
  @described(TEXT, 'Its upstream account.') account!: string;
  @described(INSTANT, 'Beginning of the compared period.') from!: Date;
  @described(INSTANT, 'End of the compared period.') to!: Date;
  @described({ enum: RUN_STATES }, 'State of the run, as in GET /v1/reconciliation/runs.') state!: RunState;
  @nullable({ enum: RESULTS }, 'The result. Null until the run ends.') result!: Result | null;
  @described(INSTANT, 'When the run began.') started_at!: Date;
  @nullable(INSTANT, 'When the run ended.') ended_at!: Date | null;
  @nullable(SIGNED_USD, "The upstream's total minus ours, in US dollars. Null without a result.")
  difference_usd!: string | null;
  @nullable(SIGNED_USD, 'The unexplained part. If it is not zero, the comparison is wrong.')
  residual_usd!: string | null;
  @described(COUNT, 'Number of its findings that are still undecided.') open_findings!: number;
}

/** Held calls that may still be approved. */
export class OverviewApprovals {
  @described(COUNT, 'Number of pending calls.') waiting!: number;
  @described(USD, 'Their sum in US dollars.') usd!: string;
  @nullable(INSTANT, 'When the next approval expires. Null if none is pending.')
  next_expires_at!: Date | null;
}

/** A client with a cap, or with spending this month. */
export class OverviewClient extends UsageDto {
  @ApiProperty({ type: 'string', description: 'Name of the client.', example: 'shop' }) name!: string;
}

export class OverviewStops {
  @described(COUNT, 'Number of active stops.') active!: number;
}

/** The state of an account at the upstream. */
export class OverviewUpstream extends AccountHealth {
  @ApiProperty({ type: 'string', description: 'Name of the account.', example: 'main' }) account!: string;
}

/**
 * The reason why the answering instance cannot write to its database or `DATA_DIR`. Other instances may
 * differ.
 */
export class OverviewTrouble {
  @described({ enum: STORAGE_LOCATIONS }, 'Where nothing can be written.') place!: StorageLocation;
  @described({ enum: CAUSES }, 'Why.') cause!: Cause;
  @described(TEXT, 'What was seen, and what to do.') detail!: string;
}

export class Overview {
  @described(INSTANT, 'When the overview was evaluated. Counts of past days may be some minutes older.')
  as_of!: Date;
  @nullable(ref('OverviewHistory'), 'Scope `audit`.') history!: OverviewHistory | null;
  @nullable(ref('OverviewInDoubt'), 'Scope `audit`.') in_doubt!: OverviewInDoubt | null;
  @nullable(ref('OverviewSeal'), 'Scope `audit`. Also null if nothing is sealed yet.')
  seal!: OverviewSeal | null;
  @nullable(
    { type: 'array', items: ref('OverviewFindings') },
    'Scope `reconcile`. Undecided findings (open or reopened), by age.',
  )
  findings!: OverviewFindings[] | null;
  @nullable(
    ref('OverviewRun'),
    'Scope `reconcile`. The newest run, of the account that waits longest for one. Null before the ' +
      'first run.',
  )
  last_run!: OverviewRun | null;
  @nullable(
    { type: 'array', items: ref('OverviewWallet') },
    'Scope `reconcile` or `admin`. Wallets that were read in the last 24 hours, by ID.',
  )
  wallets!: OverviewWallet[] | null;
  @nullable(ref('OverviewApprovals'), 'Scope `approve`.') approvals!: OverviewApprovals | null;
  @nullable(
    { type: 'array', items: ref('OverviewClient') },
    'Scope `admin`. Clients with a cap or with spending this month, by name.',
  )
  clients!: OverviewClient[] | null;
  @nullable(ref('OverviewStops'), 'Scope `admin`, `approve` or `audit`.') stops!: OverviewStops | null;
  @described({ type: [OverviewUpstream] }, 'Any of these scopes. The accounts, `main` first.')
  upstream!: OverviewUpstream[];
  @described({ type: [OverviewTrouble] }, 'Any of these scopes. Usually empty.') storage!: OverviewTrouble[];
}
