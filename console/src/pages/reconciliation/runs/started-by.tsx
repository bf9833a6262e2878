import type { RunRecord } from '../../../api/generated/schema';
import { Maybe } from '../../../components/values/values';

/** Shows who started a run. */
export function StartedBy({ run: { started_by: by } }: { run: RunRecord }) {
  if (by === null) return 'the schedule';
  return [by.actor, by.client].filter(Boolean).join(', ') || <Maybe text={null} />;
}
