import { Cell, CsvTable } from '../../http/answers/csv';
import { FindingRecord } from './findings.dto';

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
