import { Call, maySeePeople } from '../../access/auth/call';
import { Problem } from '../../platform/errors/problem';
import { maskContacts } from '../../platform/privacy/contacts';
import { isQueued, Run } from './run-reader';
import { RunRecord, RunState } from './runs.dto';

/** Converts a run for the API. */
export function toRecord(run: Run, reveal: boolean): RunRecord {
  const { id, from, to, historical, settings, end, clientId, actor } = run;
  return {
    id,
    account: run.account,
    from,
    to,
    as_of: run.asOf,
    historical,
    statement_id: run.ofStatement ? run.readId : null,
    state: stateOf(run),
    result: end?.result ?? null,
    failure: end?.failure ?? null,
    progress: end ? null : run.progress,
    settings: {
      amount_tolerance_usd: settings.amountToleranceUsd,
      balance_tolerance_usd: settings.balanceToleranceUsd,
      fee_percent: settings.feePercent,
      fee_tolerance_usd: settings.feeToleranceUsd,
      time_tolerance_seconds: settings.timeToleranceSeconds,
      late_after_seconds: settings.lateAfterSeconds,
      status_words: [...settings.statusWords],
    },
    due_at: run.dueAt,
    started_by:
      clientId === null
        ? null
        : {
            client: run.clientName,
            key_id: run.keyId,
            actor: actor !== null && !reveal ? maskContacts(actor) : actor,
          },
    started_at: run.startedAt,
    ended_at: run.endedAt,
    read_id: end?.readId ?? run.readId,
    totals: end?.totals ?? null,
  };
}

export function stateOf(run: Run): RunState {
  if (run.end) return 'ended';
  if (run.held) return 'running';
  return isQueued(run) ? 'queued' : 'interrupted';
}

/**
 * Requires the permission to read the result of a run. The totals and findings of a run that compares
 * recipients reveal who was paid, even without names.
 * @throws Problem `scope_missing`
 */
export function requireMayRead({ comparesPeople }: Pick<Run, 'comparesPeople'>, call: Call): void {
  if (!comparesPeople || maySeePeople(call)) return;
  throw new Problem('scope_missing', {
    text:
      'This statement names recipients, so a comparison with it reveals them and requires a key with ' +
      'the scope audit:pii. Import the statement without columns of recipients, or ask the operator for ' +
      'the scope.',
  });
}
