import { maskContacts } from '../../history/records/masking';
import { shown } from '../../history/records/view';
import { CATEGORIES } from './categories';
import { FindingField, FindingRecord, FindingSight, FindingStep } from './findings.dto';
import { FindingRow, WAITING } from './read';
import { SightRow } from './sights';
import { versionOf } from './version';

/**
 * Shows a finding in the API.
 * @param reveal whether people may be seen. IDs of upstreams and callers may contain them.
 */
export function toFinding(row: FindingRow, reveal: boolean): FindingRecord {
  const { severity, title, action } = CATEGORIES[row.category];
  const own = (value: string | null) => shown(value, reveal, maskContacts);
  return {
    id: row.id,
    account: row.account,
    category: row.category,
    severity,
    title,
    suggested_action: action,
    subject: shown(row.subject, reveal, maskContacts),
    state: row.state,
    impact_usd: row.impact_usd,
    fields: toFields(row.fields, reveal),
    occurred_at: row.occurred_at,
    found_at: row.found_at,
    age_days: WAITING.includes(row.state) ? row.age_days : null,
    call_id: row.call_id,
    position: row.position,
    upstream_ref: own(row.upstream_ref),
    upstream_id: own(row.upstream_id),
    batch_ref: own(row.batch_ref),
    wallet_id: row.wallet_id,
    found_by: row.run_id,
    seen_by: row.seen_run_id,
    seen_at: row.seen_at,
    last_step: lastStep(row, reveal),
    version: versionOf(row.step_id, row.now_usd),
  };
}

export function toSight({ compares_people: _, ...row }: SightRow, reveal: boolean): FindingSight {
  return { ...row, fields: toFields(row.fields, reveal) };
}

function toFields(fields: FindingField[], reveal: boolean): FindingField[] {
  const own = (value: string | null) => shown(value, reveal, maskContacts);
  return fields.map(({ field, ours, theirs }) => ({ field, ours: own(ours), theirs: own(theirs) }));
}

function lastStep(row: FindingRow, reveal: boolean): FindingStep | null {
  const { step_id: id, step_reason: reason, step_at: at, step_usd: usd } = row;
  if (id === null || reason === null || at === null || usd === null) return null;
  return {
    id,
    state: row.state,
    reason,
    impact_usd: usd,
    run_id: row.step_run_id,
    client_id: row.step_client_id,
    key_id: row.step_key_id,
    actor: shown(row.step_actor, reveal, maskContacts),
    decided_at: at,
  };
}
