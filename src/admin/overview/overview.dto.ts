import { ApiProperty } from '@nestjs/swagger';
import { CALL_STATES, CallState, EXECUTED_HELP, STATE_HELP } from '../../operations/lifecycle';
import { AGES, AgeName } from '../../reconciliation/findings/ageing';
import { Result, RESULTS } from '../../reconciliation/runs/run-reader';
import { RUN_STATES, RunState } from '../../reconciliation/runs/runs.dto';
import { UsageDto } from '../limits/cap';
import { WholeNumber } from '../../http/validation/query-rules';

/** How far back: the tables of a month. */
export const MOST_DAYS = 31;
export const USUAL_DAYS = 7;

export class OverviewSearch {
  @WholeNumber({
    min: 1,
    max: MOST_DAYS,
    example: USUAL_DAYS,
    description: `How many days (UTC) \`history\` tells of, today included; without it, ${USUAL_DAYS}.`,
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
  ApiProperty({ type: 'string', description: "The operation's name.", example: 'POST /payouts/airtime' });
const orNull = (schema: object, description: string) => ApiProperty({ anyOf: [schema, { type: 'null' }], description });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** What was asked of an operation on a day. */
export class OperationDay {
  @ApiProperty({ type: 'string', format: 'date', description: 'The day, UTC.', example: '2026-11-20' }) day!: string;
  @operation() operation!: string;
  @count('Calls, whatever became of them.') calls!: number;
  @count('Their payouts.') items!: number;
  @usd('Sum of these payouts in US dollars, exact.') asked_usd!: string;
  @usd(`The same of calls that were carried out. ${EXECUTED_HELP}`) succeeded_usd!: string;
}

export class OutcomeCount {
  @ApiProperty({ enum: CALL_STATES, description: `What came of them. ${STATE_HELP}` })
  outcome!: CallState;
  @count('How many calls.') calls!: number;
}

/** How long the upstream took, in milliseconds, to within two per cent. */
export class OperationLatency {
  @operation() operation!: string;
  @count('Of how many calls: all that were sent.') calls!: number;
  @ms('Half of the answers took no longer.') p50!: number;
  @ms('95 of 100 answers took no longer.') p95!: number;
  @ms('99 of 100 answers took no longer.') p99!: number;
}

/** The newest days. */
export class OverviewHistory {
  @ApiProperty({ type: [OperationDay], description: 'By day, newest first, and operation; only what was asked for.' })
  days!: OperationDay[];
  @ApiProperty({ type: [OutcomeCount], description: 'What came of the calls of these days; only what there is.' })
  outcomes!: OutcomeCount[];
  @ApiProperty({ type: [OperationLatency], description: 'Over these days.' }) upstream_ms!: OperationLatency[];
}

/** Calls of which nobody knows what came of them, however old: those of `GET /v1/audit/calls?in_doubt=true`. */
export class OverviewInDoubt {
  @count('How many calls.') calls!: number;
  @usd('What they ask for, in US dollars.') usd!: string;
  @orNull(INSTANT, 'Since when the oldest is in doubt; null: there is none.') oldest_since!: Date | null;
}

/** The newest checkpoint of the log. */
export class OverviewSeal {
  @count('How many records are sealed.') size!: number;
  @ApiProperty({ ...INSTANT, description: 'When the newest of them were.' }) sealed_at!: Date;
}

export class OverviewFindings {
  @ApiProperty({ enum: AGES.map(({ name }) => name), description: 'For how many days they have waited.' })
  age!: AgeName;
  @count('How many.') count!: number;
  @usd('What they are about, without signs, in US dollars.') impact_usd!: string;
}

/** The newest reconciliation. */
export class OverviewRun {
  @ApiProperty({ type: 'string', format: 'uuid', description: 'Its id.' }) id!: string;
  @ApiProperty({ ...INSTANT, description: 'Payments from here on are compared …' }) from!: Date;
  @ApiProperty({ ...INSTANT, description: '… and up to here.' }) to!: Date;
  @ApiProperty({ enum: RUN_STATES, description: '`interrupted`: it was cut off.' }) state!: RunState;
  @orNull({ enum: RESULTS }, 'Null: it has not ended.') result!: Result | null;
  @ApiProperty({ ...INSTANT, description: 'When it began.' }) started_at!: Date;
  @orNull(INSTANT, 'When it ended.') ended_at!: Date | null;
  @orNull(SIGNED_USD, "The upstream's total less ours, in US dollars; null where there is no result.")
  difference_usd!: string | null;
  @orNull(SIGNED_USD, 'What nothing explains of it: zero, or the comparison itself is wrong.')
  residual_usd!: string | null;
  @count('Of the findings it saw, those that wait for somebody now.') open_findings!: number;
}

/** Held calls that may still be approved. */
export class OverviewApprovals {
  @count('How many wait.') waiting!: number;
  @usd('What they ask for, in US dollars.') usd!: string;
  @orNull(INSTANT, 'When the next of them expires; null: none waits.') next_expires_at!: Date | null;
}

/** A client that has a cap, or has spent something this month. */
export class OverviewClient extends UsageDto {
  @ApiProperty({ type: 'string', description: 'Its name.', example: 'shop' }) name!: string;
}

export class OverviewStops {
  @count('How many hold now.') active!: number;
}

/** How the upstream is, as the instance that answers saw it since it started; others may see it otherwise. */
export class OverviewUpstream {
  @ApiProperty({
    type: [String],
    description: 'Operations of which it failed most requests, so that for now only probes are sent.',
  })
  open_circuits!: string[];
  @orNull(INSTANT, 'When it last answered a forwarded request, whatever it said; null: it did not yet.')
  last_answered_at!: Date | null;
  @orNull(
    INSTANT,
    'When a request last failed: no connection, a time-out, a broken one, a server error; null: none did.',
  )
  last_failure_at!: Date | null;
}

export class Overview {
  @ApiProperty({
    ...INSTANT,
    description: 'It tells how things stood then; of days that are over, some minutes before at most.',
  })
  as_of!: Date;
  @orNull(ref('OverviewHistory'), 'Scope `audit`.') history!: OverviewHistory | null;
  @orNull(ref('OverviewInDoubt'), 'Scope `audit`.') in_doubt!: OverviewInDoubt | null;
  @orNull(ref('OverviewSeal'), 'Scope `audit`; null also where nothing is sealed yet.') seal!: OverviewSeal | null;
  @ApiProperty({
    anyOf: [{ type: 'array', items: ref('OverviewFindings') }, { type: 'null' }],
    description: 'Scope `reconcile`. Findings that wait for somebody (open, reopened): a row for each age.',
  })
  findings!: OverviewFindings[] | null;
  @orNull(ref('OverviewRun'), 'Scope `reconcile`; null also where there was none yet.') last_run!: OverviewRun | null;
  @orNull(ref('OverviewApprovals'), 'Scope `approve`.') approvals!: OverviewApprovals | null;
  @ApiProperty({
    anyOf: [{ type: 'array', items: ref('OverviewClient') }, { type: 'null' }],
    description: 'Scope `admin`. By name: those that have a cap, or have spent something this month.',
  })
  clients!: OverviewClient[] | null;
  @orNull(ref('OverviewStops'), 'Scope `admin`, `approve` or `audit`.') stops!: OverviewStops | null;
  @ApiProperty({ type: OverviewUpstream, description: 'Any of these scopes.' }) upstream!: OverviewUpstream;
}
