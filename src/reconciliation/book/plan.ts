import { RunOfFindings } from '../../journal/reconciliation/findings';
import { insertion } from '../../journal/records/document-sql';
import { CHANGED_BY, CHANGING_OPERATIONS, CREATED_BY } from '../../operations/items/effects';
import { CLOCK_SKEW_SECONDS } from '../../operations/lifecycle/upstream-clock';
import { Config } from '../../platform/config/config';
import { ReconciliationConfig } from '../../platform/config/worker-config';
import { Prisma } from '../../platform/database/generated/client';

/** Input of a comparison. */
export interface Plan extends RunOfFindings {
  settings: RunSettings;
}

/** A transaction that the listing lacks, to look up by its name. */
export interface MissingTransaction {
  source: 'transaction' | 'batch';
  subject: string;
}

/** Reports the progress of a step. `of` is null if unknown. */
export type OnProgress = (step: string, done: number, of: number | null) => Promise<void> | void;

/** Looks up each transaction. Returns the resulting readings (`source_read`). */
export type MissingLookup = (missing: MissingTransaction[]) => Promise<string[]>;

/** Tolerances and expectations, frozen with the run, so that a repeated run gives the same result. */
export type RunSettings = Pick<
  ReconciliationConfig,
  | 'amountToleranceUsd'
  | 'balanceToleranceUsd'
  | 'feePercent'
  | 'feeToleranceUsd'
  | 'timeToleranceSeconds'
  | 'lateAfterSeconds'
> & {
  /** The configured status words, as in UPSTREAM_STATUS_WORDS. */
  statusWords: readonly string[];
};

export function settingsOf({ reconciliation: config, upstreamStatusWords }: Config): RunSettings {
  return {
    amountToleranceUsd: config.amountToleranceUsd,
    balanceToleranceUsd: config.balanceToleranceUsd,
    feePercent: config.feePercent,
    feeToleranceUsd: config.feeToleranceUsd,
    timeToleranceSeconds: config.timeToleranceSeconds,
    lateAfterSeconds: config.lateAfterSeconds,
    statusWords: upstreamStatusWords,
  };
}

/** Returns the maximum difference between the times of an entry and its transaction, in milliseconds. */
export function toleranceOf(settings: RunSettings): number {
  return (CLOCK_SKEW_SECONDS + settings.timeToleranceSeconds) * 1_000;
}

/**
 * Returns the period with its margin. Rows of the margin may belong to a payment of the period. They are
 * matched, and count only if they do. The listing of a run must cover this period.
 */
export function withMargin(from: Date, to: Date, settings: RunSettings): { from: Date; to: Date } {
  const margin = 1_000 * (CLOCK_SKEW_SECONDS + settings.timeToleranceSeconds + settings.lateAfterSeconds);
  return { from: new Date(from.getTime() - margin), to: new Date(to.getTime() + margin) };
}

/** Operations whose transactions are compared, from the catalogue, as rows of `compared_operation`. */
export const COMPARED_OPERATIONS = [...CREATED_BY].map(
  ([operation, { name, type, paidAtOnce, takesFee, alwaysListed, incoming }]) => ({
    operation,
    kind: name,
    type,
    paid_at_once: paidAtOnce,
    takes_fee: takesFee,
    always_listed: alwaysListed,
    incoming,
  }),
);

export const MAKE_COMPARED_OPERATIONS = [
  Prisma.sql`DROP TABLE IF EXISTS compared_operation`,
  Prisma.sql`CREATE TEMP TABLE compared_operation (
    operation text PRIMARY KEY,
    kind text,
    type text,
    paid_at_once boolean,
    takes_fee boolean,
    always_listed boolean,
    incoming boolean)`,
  insertion('pg_temp.compared_operation', COMPARED_OPERATIONS),
  Prisma.sql`ANALYZE compared_operation`,
];

/** Names of the compared operations. Statements list them, which lets the planner estimate their calls. */
export const COMPARED = [...CREATED_BY.keys()];

/** Operations that change something without a comparable transaction. In doubt, they make a run not clean. */
export const NOT_COMPARED = CHANGING_OPERATIONS.filter((name) => !CREATED_BY.has(name));

/** The operations that delete transactions. */
export const DELETING = [...CHANGED_BY].flatMap(([name, change]) => (change === 'deleted' ? [name] : []));

/** The types of transactions for incoming money. */
export const INCOMING_TYPES = [
  ...new Set([...CREATED_BY.values()].flatMap(({ type, incoming }) => (incoming ? [type] : []))),
];
