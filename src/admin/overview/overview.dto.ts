import { ApiProperty } from '@nestjs/swagger';
import { CALL_STATES, CallState, STATE_HELP } from '../../operations/lifecycle';
import { PayoutSums } from '../../history/search/payout-sums.dto';
import { AGES, AgeName } from '../../reconciliation/findings/ageing';
import { Result, RESULTS } from '../../reconciliation/runs/run-reader';
import { RUN_STATES, RunState } from '../../reconciliation/runs/runs.dto';
import { AccountHealth } from '../accounts/accounts.dto';
import { UsageDto } from '../limits/cap';
import { Cause, CAUSES, Place, PLACES } from '../../platform/storage/failures';
import { WholeNumber } from '../../http/validation/query-rules';

/** The longest period. Its tables stay small enough to read at once. */
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

const INSTANT = { type: 'string', format: 'date-time' } as const;
const USD = { type: 'string', pattern: '^\\d+(\\.\\d+)?$', example: '1234.5' } as const;
const SIGNED_USD = { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$', example: '-1.5' } as const;
const count = (description: string) => ApiProperty({ type: 'integer', minimum: 0, description });
const usd = (description: string) => ApiProperty({ ...USD, description });
const ms = (description: string) => ApiProperty({ type: 'number', minimum: 0, description });
const operation = () =>
  ApiProperty({ type: 'string', description: 'Name of the operation.', example: 'POST /payouts/airtime' });
const orNull = (schema: object, description: string) => ApiProperty({ anyOf: [schema, { type: 'null' }], description });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Calls of one operation on one day. */
export class OperationDay extends PayoutSums {
  @ApiProperty({ type: 'string', format: 'date', description: 'The day, UTC.', example: '2026-11-20' }) day!: string;
  @operation() operation!: string;
  @count('Number of calls, whatever the outcome.') calls!: number;
  @count('Number of their payouts.') items!: number;
}

export class OutcomeCount {
  @ApiProperty({ enum: CALL_STATES, description: `The outcome. ${STATE_HELP}` })
  outcome!: CallState;
  @count('Number of calls.') calls!: number;
}

/** Response times of the upstream in milliseconds, accurate to two per cent. */
export class OperationLatency {
  @operation() operation!: string;
  @count('Number of calls that were sent.') calls!: number;
  @ms('Median.') p50!: number;
  @ms('95th percentile.') p95!: number;
  @ms('99th percentile.') p99!: number;
}

/** Counts of the last days. */
export class OverviewHistory {
  @ApiProperty({
    type: [OperationDay],
    description: 'Counts by day and operation, newest day first. Only those with calls.',
  })
  days!: OperationDay[];
  @ApiProperty({ type: [OutcomeCount], description: 'Counts by outcome over these days. Only outcomes that occurred.' })
  outcomes!: OutcomeCount[];
  @ApiProperty({ type: [OperationLatency], description: 'Response times over these days.' })
  upstream_ms!: OperationLatency[];
}

/** Calls in doubt of any age: those of `GET /v1/audit/calls?in_doubt=true`. */
export class OverviewInDoubt {
  @count('Number of calls.') calls!: number;
  @usd('Their sum in US dollars.') usd!: string;
  @orNull(INSTANT, 'When the oldest became in doubt. Null if there is none.') oldest_since!: Date | null;
}

/** The newest checkpoint of the log. */
export class OverviewSeal {
  @count('Number of sealed records.') size!: number;
  @ApiProperty({ ...INSTANT, description: 'When the newest of them was sealed.' }) sealed_at!: Date;
}

export class OverviewFindings {
  @ApiProperty({ enum: AGES.map(({ name }) => name), description: 'Age of the findings, in days.' })
  age!: AgeName;
  @count('Number of findings.') count!: number;
  @usd('Sum of their absolute impacts, in US dollars.') impact_usd!: string;
}

/** A wallet of an upstream account, as the newest reading shows it. */
export class OverviewWallet {
  @ApiProperty({ type: 'string', description: 'The upstream account.' }) account!: string;
  @ApiProperty({ type: 'string', description: 'ID of the wallet.' }) wallet_id!: string;
  @orNull({ type: 'string' }, "The upstream's type of the wallet.") type!: string | null;
  @ApiProperty({ ...SIGNED_USD, description: 'Its balance in US dollars.' }) balance_usd!: string;
  @orNull(USD, 'The balance below which it is low (`WALLET_LOW_BALANCE_USD`). Null if there is none.')
  low_balance_usd!: string | null;
  @ApiProperty({ type: 'boolean', description: 'Whether its balance is below `low_balance_usd`.' }) is_low!: boolean;
  @usd('What left it between the readings of the last 24 hours, in US dollars.') spent_usd!: string;
  @orNull({ type: 'integer' }, 'Seconds for which the balance lasts at that pace. Null if nothing was spent.')
  runway_seconds!: number | null;
  @ApiProperty({ ...INSTANT, description: 'When it was read.' }) read_at!: Date;
}

/** The newest reconciliation run. With several upstream accounts, the account whose newest run is the oldest. */
export class OverviewRun {
  @ApiProperty({ type: 'string', format: 'uuid', description: 'ID of the run.' }) id!: string;
  @ApiProperty({ type: 'string', description: 'Its upstream account.' }) account!: string;
  @ApiProperty({ ...INSTANT, description: 'Beginning of the compared period.' }) from!: Date;
  @ApiProperty({ ...INSTANT, description: 'End of the compared period.' }) to!: Date;
  @ApiProperty({ enum: RUN_STATES, description: 'State of the run, as in GET /v1/reconciliation/runs.' })
  state!: RunState;
  @orNull({ enum: RESULTS }, 'The result. Null until the run ends.') result!: Result | null;
  @ApiProperty({ ...INSTANT, description: 'When the run began.' }) started_at!: Date;
  @orNull(INSTANT, 'When the run ended.') ended_at!: Date | null;
  @orNull(SIGNED_USD, "The upstream's total minus ours, in US dollars. Null without a result.")
  difference_usd!: string | null;
  @orNull(SIGNED_USD, 'The unexplained part. If it is not zero, the comparison is wrong.')
  residual_usd!: string | null;
  @count('Number of its findings that are still undecided.') open_findings!: number;
}

/** Held calls that may still be approved. */
export class OverviewApprovals {
  @count('Number of pending calls.') waiting!: number;
  @usd('Their sum in US dollars.') usd!: string;
  @orNull(INSTANT, 'When the next approval expires. Null if none is pending.') next_expires_at!: Date | null;
}

/** A client that has a cap, or has spent something this month. */
export class OverviewClient extends UsageDto {
  @ApiProperty({ type: 'string', description: 'Name of the client.', example: 'shop' }) name!: string;
}

export class OverviewStops {
  @count('Number of active stops.') active!: number;
}

/** The state of an account at the upstream. */
export class OverviewUpstream extends AccountHealth {
  @ApiProperty({ type: 'string', description: 'Name of the account.', example: 'main' }) account!: string;
}

/** Why the database or `DATA_DIR` of the answering instance takes no writes. Other instances may differ. */
export class OverviewTrouble {
  @ApiProperty({ enum: PLACES, description: 'Where nothing can be written.' }) place!: Place;
  @ApiProperty({ enum: CAUSES, description: 'Why.' }) cause!: Cause;
  @ApiProperty({ type: 'string', description: 'What was seen, and what to do.' }) detail!: string;
}

export class Overview {
  @ApiProperty({
    ...INSTANT,
    description: 'When the overview was evaluated. Counts of past days may be some minutes older.',
  })
  as_of!: Date;
  @orNull(ref('OverviewHistory'), 'Scope `audit`.') history!: OverviewHistory | null;
  @orNull(ref('OverviewInDoubt'), 'Scope `audit`.') in_doubt!: OverviewInDoubt | null;
  @orNull(ref('OverviewSeal'), 'Scope `audit`. Also null if nothing is sealed yet.') seal!: OverviewSeal | null;
  @ApiProperty({
    anyOf: [{ type: 'array', items: ref('OverviewFindings') }, { type: 'null' }],
    description: 'Scope `reconcile`. Undecided findings (open or reopened), by age.',
  })
  findings!: OverviewFindings[] | null;
  @orNull(
    ref('OverviewRun'),
    'Scope `reconcile`. The newest run, of the account that waits longest for one. Null before the first run.',
  )
  last_run!: OverviewRun | null;
  @ApiProperty({
    anyOf: [{ type: 'array', items: ref('OverviewWallet') }, { type: 'null' }],
    description: 'Scope `reconcile` or `admin`. Wallets that were read in the last 24 hours, by ID.',
  })
  wallets!: OverviewWallet[] | null;
  @orNull(ref('OverviewApprovals'), 'Scope `approve`.') approvals!: OverviewApprovals | null;
  @ApiProperty({
    anyOf: [{ type: 'array', items: ref('OverviewClient') }, { type: 'null' }],
    description: 'Scope `admin`. Clients with a cap or with spending this month, by name.',
  })
  clients!: OverviewClient[] | null;
  @orNull(ref('OverviewStops'), 'Scope `admin`, `approve` or `audit`.') stops!: OverviewStops | null;
  @ApiProperty({ type: [OverviewUpstream], description: 'Any of these scopes. The accounts, `main` first.' })
  upstream!: OverviewUpstream[];
  @ApiProperty({ type: [OverviewTrouble], description: 'Any of these scopes. Usually empty.' })
  storage!: OverviewTrouble[];
}
