import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { approvalStatusOf, Present, RecordedCall, stateOf } from '../../operations/lifecycle';
import { Listed } from '../search/cursor';
import { Place } from '../records/page';
import { Column, COLUMNS, STATE_COLUMNS } from './columns';
import { Cell } from './csv';

/** Cells by column name, in the order of the columns. */
export type ExportRow = Record<string, Cell>;

/** One row as Postgres returns it. The fields with `$` are the STATE_COLUMNS. */
interface StoredRow {
  [column: string]: Cell | boolean | undefined;
  $id: string;
  $position: number | null;
  $refused: boolean;
  $recorded_at: string | null;
  $process: number | null;
  $held_for: string | null;
  $expires_at: string | null;
  $decision: string | null;
  $decided_at: string | null;
  $decision_process: number | null;
  $outcome: string | null;
  $answered_at: string | null;
  $resolution: string | null;
}

/**
 * Reads the export rows of these calls or payouts from the records themselves, in the given order.
 *
 * Postgres writes each row as JSON text, which is several times faster than a result of forty columns. One text for all
 * rows would be faster still, but large strings pile up before the garbage collector removes them.
 */
export async function readRows(
  prisma: ReaderPrisma,
  listed: Listed,
  places: Place[],
  reveal: boolean,
  present: Present,
): Promise<ExportRow[]> {
  const ids = [...new Set(places.map(({ id }) => id))];
  const positions = places.map(({ position }) => position);
  const values = listed === 'calls' ? [ids] : [ids, places.map(({ id }) => id), positions];
  const texts = await prisma.readLong<{ row: string }>({ text: SQL[listed], values });
  const byKey = new Map<string, StoredRow>();
  for (const text of texts) {
    const row = JSON.parse(text.row) as StoredRow;
    byKey.set(keyOf(row.$id, row.$position), row);
  }
  const columns = COLUMNS[listed];
  return places.flatMap(({ id, position }) => {
    const row = byKey.get(keyOf(id, position));
    return row ? [toRow(row, columns, reveal, present)] : []; // pruned in the meantime
  });
}

const keyOf = (id: string, position: number | null) => (position === null ? id : `${id}/${position}`);

function toRow(found: StoredRow, columns: readonly Column[], reveal: boolean, present: Present): ExportRow {
  const derived = statesOf(found, present);
  const row: ExportRow = {};
  for (const { name, sql, refused, mask } of columns) {
    const value = (sql ?? refused) === undefined ? (derived[name] ?? null) : ((found[name] ?? null) as Cell);
    row[name] = mask && !reveal && typeof value === 'string' ? mask(value) : value;
  }
  return row;
}

/** Returns the fields that are derived from other columns. */
function statesOf(found: StoredRow, present: Present): ExportRow {
  if (found.$refused) return { outcome: 'refused' };
  const {
    $decision: decision,
    $decided_at: decidedAt,
    $answered_at: answeredAt,
    $outcome: kind,
    $held_for: heldFor,
  } = found;
  const recorded: RecordedCall = {
    recordedAt: new Date(found.$recorded_at ?? Number.NaN), // every intent has one
    process: found.$process,
    heldFor,
    expiresAt: found.$expires_at === null ? null : new Date(found.$expires_at),
    decision:
      decision === null
        ? null
        : { kind: decision, decidedAt: new Date(decidedAt ?? 0), process: found.$decision_process ?? 0 },
    outcome: kind === null ? null : { kind, answeredAt: new Date(answeredAt ?? 0) },
    resolution: found.$resolution === null ? null : { outcome: found.$resolution },
  };
  const outcome = stateOf(recorded, present);
  return {
    outcome,
    // Same rule as `inDoubtSince`, with the microseconds of the database.
    in_doubt_since: outcome === 'unknown' ? (answeredAt ?? decidedAt ?? found.$recorded_at) : null,
    approval: approvalStatusOf(recorded, present),
  };
}

const selected = (columns: readonly Column[], from: 'sql' | 'refused') =>
  [...columns, ...STATE_COLUMNS]
    .flatMap((column) => (column[from] === undefined ? [] : `${column[from]} AS "${column.name}"`))
    .join(', ');

/** Each table is joined by the ids in $1, so that Postgres skips the partitions of other months. */
const INTENTS = `
  FROM intent i
  LEFT JOIN client c ON c.id = i.client_id
  LEFT JOIN refusal r ON r.id = i.id AND r.id = ANY ($1::uuid[])
  LEFT JOIN outcome o ON o.intent_id = i.id AND o.intent_id = ANY ($1::uuid[])
  LEFT JOIN decision d ON d.intent_id = i.id AND d.intent_id = ANY ($1::uuid[])
  LEFT JOIN current_resolution s ON s.intent_id = i.id AND s.intent_id = ANY ($1::uuid[])`;

/** Finds the transaction that the resolver assigned to an item without an answer. */
const CONFIRMED = `
  SELECT found.* FROM verdict v CROSS JOIN json_to_recordset(v.evidence -> 'transactions')
    AS found (position integer, upstream_ref text, upstream_id text, batch_ref text, status text, amount_usd numeric)
  WHERE v.intent_id = i.id AND v.intent_id = ANY ($1::uuid[]) AND v.verdict = 'confirmed' AND s.outcome = 'confirmed'
    AND found.position = t.position
  ORDER BY v.id DESC LIMIT 1`;

const SQL: Record<Listed, string> = {
  // A refusal replaces its intent, if the call has both (../records/records.service.ts).
  calls: `
    SELECT row_to_json(x)::text AS row FROM (
      SELECT i.id AS "$id", NULL AS "$position", ${selected(COLUMNS.calls, 'sql')} ${INTENTS}
      WHERE i.id = ANY ($1::uuid[]) AND r.id IS NULL) AS x
    UNION ALL
    SELECT row_to_json(x)::text FROM (
      SELECT r.id AS "$id", NULL AS "$position", ${selected(COLUMNS.calls, 'refused')}
      FROM refusal r LEFT JOIN client c ON c.id = r.client_id WHERE r.id = ANY ($1::uuid[])) AS x`,
  items: `
    SELECT row_to_json(x)::text AS row FROM (
      SELECT i.id AS "$id", t.position AS "$position", ${selected(COLUMNS.items, 'sql')} ${INTENTS}
      JOIN intent_item t ON t.intent_id = i.id AND t.intent_id = ANY ($1::uuid[])
      JOIN unnest($2::uuid[], $3::int[]) AS wanted (id, position)
        ON wanted.id = t.intent_id AND wanted.position = t.position
      LEFT JOIN item_recipient n ON n.intent_id = t.intent_id AND n.position = t.position AND n.intent_id = ANY ($1::uuid[])
      LEFT JOIN outcome_item u ON u.intent_id = t.intent_id AND u.position = t.position AND u.intent_id = ANY ($1::uuid[])
      LEFT JOIN LATERAL (${CONFIRMED}) AS f ON u.intent_id IS NULL
      WHERE i.id = ANY ($1::uuid[])) AS x`,
};
