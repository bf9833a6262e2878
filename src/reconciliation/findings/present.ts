import { maskContacts } from '../../history/records/masking';
import { shown } from '../../history/records/view';
import { CATEGORIES } from './categories';
import { FindingField, FindingRecord, FindingSight, FindingStep } from './findings.dto';
import { FindingRow, WAITING, SightRow } from './read';
import { createHash } from 'node:crypto';
import { Cell, CsvTable } from '../../http/answers/csv';

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

/**
 * Returns a token that changes when a finding is decided or is seen with another impact. A decision that sends the
 * token applies to what its author saw, or is rejected. The token begins with a letter, so that spreadsheets do not
 * read it as a number.
 * @param stepId the ID of the finding's latest decision. Null if there is none.
 */
export function versionOf(stepId: string | null, impactUsd: string): string {
  return `v${createHash('sha256')
    .update(`${stepId ?? 'none'} ${impactUsd}`)
    .digest('hex')
    .slice(0, 12)}`;
}

/** The columns: two to fill in, those that identify the finding, and those that help to decide. */
export const FINDINGS_TABLE = new CsvTable<FindingRecord>({
  finding_id: ({ id }) => id,
  decision: () => null,
  reason: () => null,
  state: ({ state }) => state,
  severity: ({ severity }) => severity,
  category: ({ category }) => category,
  impact_usd: ({ impact_usd }) => amount(impact_usd),
  field: ({ fields }) => joined(fields.map(({ field }) => field)),
  ours: ({ fields }) => joined(fields.map(({ ours }) => ours ?? '(none)')),
  theirs: ({ fields }) => joined(fields.map(({ theirs }) => theirs ?? '(none)')),
  occurred_at: ({ occurred_at }) => occurred_at.toISOString(),
  found_at: ({ found_at }) => found_at.toISOString(),
  age_days: ({ age_days }) => age_days,
  call_id: ({ call_id }) => call_id,
  position: ({ position }) => position,
  upstream_ref: ({ upstream_ref }) => upstream_ref,
  upstream_id: ({ upstream_id }) => upstream_id,
  batch_ref: ({ batch_ref }) => batch_ref,
  wallet_id: ({ wallet_id }) => wallet_id,
  account: ({ account }) => account,
  subject: ({ subject }) => subject,
  last_reason: ({ last_step }) => last_step?.reason ?? null,
  last_actor: ({ last_step }) => last_step?.actor ?? null,
  suggested_action: ({ suggested_action }) => suggested_action,
  seen_at: ({ seen_at }) => seen_at.toISOString(),
  version: ({ version }) => version,
});

/** Returns the amount as a number, so that spreadsheets can add it up, if a number represents it exactly. */
function amount(usd: string): Cell {
  return String(Number(usd)) === usd ? Number(usd) : usd;
}

function joined(values: string[]): string {
  return values.join('; ');
}
