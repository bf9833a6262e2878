import { RunningConfig, StartError } from '../platform/config/config';
import { OPERATION_NAMES, rowOf } from './catalogue/catalogue';
import { DEADLINE_CLASSES } from './catalogue/row';
import { StatusVocabulary } from './lifecycle/statuses';

/**
 * Checks the settings that name operations and statuses, and resolves the deadlines of classes. Called at the
 * start of the proxy and the worker.
 * @throws StartError for an unknown name.
 */
export function checkedSettings(configured: RunningConfig): RunningConfig {
  const { upstreamTimeouts, upstreamStatusWords, payoutWallets } = configured;
  StatusVocabulary.with(upstreamStatusWords);
  const known: readonly string[] = OPERATION_NAMES;
  const unknown = [...payoutWallets.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new StartError(
      `PAYOUT_WALLETS names ${unknown}, which is no operation. docs/reference/operations.md lists the ` +
        'operations.',
    );
  }
  return { ...configured, upstreamTimeouts: deadlinesByOperation(upstreamTimeouts) };
}

/**
 * Resolves the deadlines of classes into deadlines of operations. An operation's deadline has precedence over
 * its class.
 * @param configured milliseconds by operation or class, as in UPSTREAM_TIMEOUTS.
 * @throws StartError for a name that is neither.
 */
export function deadlinesByOperation(configured: ReadonlyMap<string, number>): Map<string, number> {
  const known: readonly string[] = [...OPERATION_NAMES, ...DEADLINE_CLASSES];
  const unknown = [...configured.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new StartError(
      `UPSTREAM_TIMEOUTS names ${unknown}, which is neither an operation nor one of ` +
        `${DEADLINE_CLASSES.join(', ')}. docs/reference/operations.md lists the operations.`,
    );
  }
  return new Map(
    OPERATION_NAMES.flatMap((name): [string, number][] => {
      const deadline = configured.get(name) ?? configured.get(rowOf(name).deadline);
      return deadline === undefined ? [] : [[name, deadline]];
    }),
  );
}
