import { RunningConfig, StartError } from '../platform/config/config';
import { OPERATION_NAMES } from './catalogue';
import { deadlinesByOperation } from './deadlines';
import { StatusVocabulary } from './statuses';

/**
 * Checks the settings that name operations and statuses, and resolves the deadlines of classes. The proxy and its worker
 * do so at their start.
 * @throws StartError if a name is not known.
 */
export function checkedSettings(configured: RunningConfig): RunningConfig {
  const { upstreamTimeouts, upstreamStatusWords, payoutWallets } = configured;
  StatusVocabulary.with(upstreamStatusWords);
  const known: readonly string[] = OPERATION_NAMES;
  const unknown = [...payoutWallets.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new StartError(
      `PAYOUT_WALLETS names ${unknown}, which is no operation. docs/reference/operations.md lists the operations.`,
    );
  }
  return { ...configured, upstreamTimeouts: deadlinesByOperation(upstreamTimeouts) };
}
