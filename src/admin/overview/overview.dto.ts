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
export const DEFAULT_DAYS = 7;

export class OverviewSearch {
  @WholeNumber({
    min: 1,
    max: MOST_DAYS,
    example: DEFAULT_DAYS,
    description: `Number of days (UTC) in \`history\`, including today. Default: ${DEFAULT_DAYS}.`,
  })
  days?: number;
}

/** Calls of one operation on one day. */
export class OperationDay extends PayoutSums {
  @described({ type: 'string', format: 'date', example: '2026-11-20' }, 'Day in UTC.') day!: string;
  @described({ ...TEXT, example: 'POST /payouts/airtime' }, 'Name of the operation.') operation!: string;
  @described(COUNT, 'Number of calls with any outcome.') calls!: number;
  @described(COUNT, 'Number of their payouts.') items!: number;
}

export class OutcomeCount {
  @described({ enum: CALL_STATES }, `Outcome. ${STATE_HELP}`) outcome!: CallState;
  @described(COUNT, 'Number of calls.') calls!: number;
}

/** Response times of the upstream in milliseconds, accurate to two per cent. */
export class OperationLatency {
  @described({ ...TEXT, example: 'POST /payouts/airtime' }, 'Name of the operation.') operation!: string;
  @described(COUNT, 'Number of sent calls.') calls!: number;
  @described({ ...NUMBER, minimum: 0 }, 'Median.') p50!: number;
  @described({ ...NUMBER, minimum: 0 }, '95th percentile.') p95!: number;
  @described({ ...NUMBER, minimum: 0 }, '99th percentile.') p99!: number;
}

/** Counts of the last days. */
export class OverviewHistory {
  @described({ type: [OperationDay] }, 'Counts by day and operation with calls, newest day first.')
  days!: OperationDay[];
  @described({ type: [OutcomeCount] }, 'Counts by outcome over these days. Only outcomes that occurred.')
  outcomes!: OutcomeCount[];
  @described({ type: [OperationLatency] }, 'Response times over these days.')
  upstream_ms!: OperationLatency[];
}

/** Calls in doubt of any age, as in `GET /v1/audit/calls?in_doubt=true`. */
export class OverviewInDoubt {
  @described(COUNT, 'Number of calls.') calls!: number;
  @described(USD, 'Their sum in US dollars.') usd!: string;
  @nullable(INSTANT, 'Time since which the oldest is in doubt.') oldest_since!: Date | null;
}

/** Calls that wait for their turn to be sent (`Prefer: respond-async`). */
export class OverviewQueue {
  @described(COUNT, 'Number of calls.') calls!: number;
  @nullable(INSTANT, 'Time since which the oldest waits.') oldest_since!: Date | null;
  @described(COUNT, 'Number of calls whose turn came in the last minute.') released_last_minute!: number;
}

/** The newest checkpoint of the log. */
export class OverviewSeal {
  @described(COUNT, 'Number of sealed records.') size!: number;
  @described(INSTANT, 'Time of the newest seal.') sealed_at!: Date;
}

export class OverviewFindings {
  @described({ enum: AGES.map(({ name }) => name) }, 'Age of the findings, in days.') age!: AgeName;
  @described(COUNT, 'Number of findings.') count!: number;
  @described(USD, 'Sum of their absolute impacts, in US dollars.') impact_usd!: string;
}

/** Newest reading of a wallet of an upstream account. */
export class OverviewWallet {
  @described(TEXT, 'Upstream account.') account!: string;
  @described(TEXT, 'ID of the wallet.') wallet_id!: string;
  @nullable(TEXT, "The upstream's type of the wallet.") type!: string | null;
  @described(SIGNED_USD, 'Balance in US dollars.') balance_usd!: string;
  @nullable(USD, 'Threshold of a low balance (`WALLET_LOW_BALANCE_USD`), if any.')
  low_balance_usd!: string | null;
  @described(BOOLEAN, 'Whether the balance is below `low_balance_usd`.') is_low!: boolean;
  @described(USD, 'Decreases between the readings of the last 24 hours, in US dollars.')
  spent_usd!: string;
  @nullable(INTEGER, 'Seconds for which the balance lasts at that pace. Null without spending.')
  runway_seconds!: number | null;
  @described(INSTANT, 'Time of the reading.') read_at!: Date;
}

/** The newest reconciliation run of the account that has waited longest for one. */
export class OverviewRun {
  @described(UUID, 'ID of the run.') id!: string;
  @described(TEXT, 'Upstream account of the run.') account!: string;
  @described(INSTANT, 'Beginning of the compared period.') from!: Date;
  @described(INSTANT, 'End of the compared period.') to!: Date;
  @described({ enum: RUN_STATES }, 'State of the run, as in GET /v1/reconciliation/runs.') state!: RunState;
  @nullable({ enum: RESULTS }, 'Result. Null until the run ends.') result!: Result | null;
  @described(INSTANT, 'Start of the run.') started_at!: Date;
  @nullable(INSTANT, 'End of the run.') ended_at!: Date | null;
  @nullable(SIGNED_USD, "The upstream's total minus ours, in US dollars. Null without a result.")
  difference_usd!: string | null;
  @nullable(SIGNED_USD, 'Unexplained part of the difference. The comparison is wrong unless it is zero.')
  residual_usd!: string | null;
  @described(COUNT, 'Number of its undecided findings.') open_findings!: number;
}

/** Held calls that may still be approved. */
export class OverviewApprovals {
  @described(COUNT, 'Number of pending calls.') waiting!: number;
  @described(USD, 'Their sum in US dollars.') usd!: string;
  @nullable(INSTANT, 'Expiry of the next approval.') next_expires_at!: Date | null;
}

/** A client with a cap, or with spending this month. */
export class OverviewClient extends UsageDto {
  @described({ ...TEXT, example: 'shop' }, 'Name of the client.') name!: string;
}

export class OverviewStops {
  @described(COUNT, 'Number of active stops.') active!: number;
}

/** An operation whose rejections are doubted: the upstream carried out what it had rejected. */
export class OverviewDoubtedOperation {
  @described({ ...TEXT, example: 'main' }, 'Upstream account.') account!: string;
  @described({ ...TEXT, example: 'POST /payouts/airtime' }, 'Name of the operation.') operation!: string;
  @described(COUNT, 'Number of its false rejections within the last day.') calls!: number;
  @described(INSTANT, 'End of the doubt, a day after the last one.') until!: Date;
}

/** Health of an account at the upstream. */
export class OverviewUpstream extends AccountHealth {
  @described({ ...TEXT, example: 'main' }, 'Name of the account.') account!: string;
}

/** Failure of the answering instance to write to its database or `DATA_DIR`. Other instances may differ. */
export class OverviewTrouble {
  @described({ enum: STORAGE_LOCATIONS }, 'Location of the failed writes.') place!: StorageLocation;
  @described({ enum: CAUSES }, 'Cause of the failure.') cause!: Cause;
  @described(TEXT, 'Description of the failure, and the remedy.') detail!: string;
}

export class Overview {
  @described(INSTANT, 'Time of the evaluation. Counts of past days may be some minutes older.')
  as_of!: Date;
  @nullable(ref('OverviewHistory'), 'Scope `audit`.') history!: OverviewHistory | null;
  @nullable(ref('OverviewInDoubt'), 'Scope `audit`.') in_doubt!: OverviewInDoubt | null;
  @nullable(ref('OverviewQueue'), 'Scope `admin` or `audit`.') queue!: OverviewQueue | null;
  @nullable(ref('OverviewSeal'), 'Scope `audit`. Also null before the first seal.')
  seal!: OverviewSeal | null;
  @nullable(
    { type: 'array', items: ref('OverviewFindings') },
    'Scope `reconcile`. Undecided findings (open or reopened), by age.',
  )
  findings!: OverviewFindings[] | null;
  @nullable(
    ref('OverviewRun'),
    'Scope `reconcile`. The newest run of the account that has waited longest for one. Null before the ' +
      'first run.',
  )
  last_run!: OverviewRun | null;
  @nullable(
    { type: 'array', items: ref('OverviewWallet') },
    'Scope `reconcile` or `admin`. Wallets with readings in the last 24 hours, by ID.',
  )
  wallets!: OverviewWallet[] | null;
  @nullable(ref('OverviewApprovals'), 'Scope `approve`.') approvals!: OverviewApprovals | null;
  @nullable(
    { type: 'array', items: ref('OverviewClient') },
    'Scope `admin`. Clients with a cap or with spending this month, by name.',
  )
  clients!: OverviewClient[] | null;
  @nullable(ref('OverviewStops'), 'Scope `admin`, `approve` or `audit`.') stops!: OverviewStops | null;
  @described(
    { type: [OverviewDoubtedOperation] },
    'Any of these scopes. Operations with a false rejection within the last day. Usually empty.',
  )
  doubted_operations!: OverviewDoubtedOperation[];
  @described({ type: [OverviewUpstream] }, 'Any of these scopes. The accounts, `main` first.')
  upstream!: OverviewUpstream[];
  @described({ type: [OverviewTrouble] }, 'Any of these scopes. Usually empty.') storage!: OverviewTrouble[];
}
