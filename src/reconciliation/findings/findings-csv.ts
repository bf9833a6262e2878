import { Cell, csvLine, Delimiter } from '../../history/export/csv';
import { FindingRecord } from './findings.dto';

/** The byte order mark. Without it, spreadsheets do not recognise UTF-8. */
export const BOM = '\ufeff';

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

/** The columns: two to fill in, those that identify the finding, and those that help to decide. */
const COLUMNS: Record<string, (finding: FindingRecord) => Cell> = {
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
  subject: ({ subject }) => subject,
  last_reason: ({ last_step }) => last_step?.reason ?? null,
  last_actor: ({ last_step }) => last_step?.actor ?? null,
  suggested_action: ({ suggested_action }) => suggested_action,
  seen_at: ({ seen_at }) => seen_at.toISOString(),
  version: ({ version }) => version,
};

/** Writes the columns in their fixed order. New columns are added at the end. */
export function csvHeading(delimiter: Delimiter): string {
  return BOM + csvLine(Object.keys(COLUMNS), delimiter);
}

export function csvRow(finding: FindingRecord, delimiter: Delimiter): string {
  return csvLine(
    Object.values(COLUMNS).map((cell) => cell(finding)),
    delimiter,
  );
}

/** Returns the amount as a number, so that spreadsheets can add it up, if a number represents it exactly. */
function amount(usd: string): Cell {
  return String(Number(usd)) === usd ? Number(usd) : usd;
}

function joined(values: string[]): string {
  return values.join('; ');
}
