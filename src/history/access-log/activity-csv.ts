import { CsvTable } from '../../http/answers/csv';
import { canonical } from '../../policy/content';
import { ActivityRecord } from './activity.dto';
import { ActivityState } from './activity-state.dto';

/** The columns of an export of acts: what happened, to what, and who did it. */
export const ACTIVITY_TABLE = new CsvTable<ActivityRecord>({
  act_id: ({ id }) => id,
  at: ({ at }) => at.toISOString(),
  action: ({ action }) => action,
  client: ({ target }) => target.client?.name ?? null,
  client_id: ({ target }) => target.client?.id ?? null,
  key_id: ({ target }) => target.key_id,
  operation: ({ target }) => target.operation,
  before: ({ before }) => textOf(before),
  after: ({ after }) => textOf(after),
  by_client: ({ by }) => by.client?.name ?? null,
  by_client_id: ({ by }) => by.client?.id ?? null,
  by_key_id: ({ by }) => by.key_id,
  by_actor: ({ by }) => by.actor,
  via: ({ via }) => via,
  client_address: ({ client_address }) => client_address,
  request_id: ({ request_id }) => request_id,
  call_id: ({ call_id }) => call_id,
  reason: ({ reason }) => reason,
});

function textOf(state: ActivityState | null): string | null {
  return state && canonical(state);
}
