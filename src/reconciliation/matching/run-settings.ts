import { ReconciliationConfig } from '../../platform/config/config';

/** What a comparison tolerates and expects, frozen with the run, so that it gives the same whenever it is started again. */
export type RunSettings = Pick<
  ReconciliationConfig,
  | 'amountToleranceUsd'
  | 'balanceToleranceUsd'
  | 'feePercent'
  | 'feeToleranceUsd'
  | 'timeToleranceSeconds'
  | 'lateAfterSeconds'
>;

/** How much earlier than ours the upstream's clock may say that it was. */
export const CLOCK_SKEW_SECONDS = 60;

export function settingsOf(config: ReconciliationConfig): RunSettings {
  return {
    amountToleranceUsd: config.amountToleranceUsd,
    balanceToleranceUsd: config.balanceToleranceUsd,
    feePercent: config.feePercent,
    feeToleranceUsd: config.feeToleranceUsd,
    timeToleranceSeconds: config.timeToleranceSeconds,
    lateAfterSeconds: config.lateAfterSeconds,
  };
}

/**
 * The period and what lies so close to it that it may belong to a payment of it. Rows of the margin are matched, and count
 * only if they belong to the period. A listing that a run compares with must cover this much.
 */
export function withMargin(from: Date, to: Date, settings: RunSettings): { from: Date; to: Date } {
  const margin = 1_000 * (CLOCK_SKEW_SECONDS + settings.timeToleranceSeconds + settings.lateAfterSeconds);
  return { from: new Date(from.getTime() - margin), to: new Date(to.getTime() + margin) };
}
