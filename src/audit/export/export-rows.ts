import { Prisma } from '../../database/generated/client';
import { PrismaService } from '../../database/prisma.service';
import { outcomeOf, Present, Recorded } from '../outcome';
import { Listed } from '../cursor';
import { Place } from '../pages';
import { Column, COLUMNS, STATE_COLUMNS } from './columns';
import { Cell } from './csv';

/** By the names of the columns, in their order. */
export type Row = Record<string, Cell>;

/** What Postgres gives of one row; beside the columns, what the words follow from (STATE_COLUMNS). */
interface Found {
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
 * Reads what an export shows of these calls or payouts, in their order, from the records themselves. Postgres writes each
 * row as a JSON text, which is several times faster than a result of forty columns; a text for all of them would be faster
 * still, but so large that it is not cleared away before there are many.
 */
export async function readRows(
  prisma: PrismaService,
  listed: Listed,
  places: Place[],
  reveal: boolean,
  present: Present,
): Promise<Row[]> {
  const texts = await prisma.$queryRaw<{ row: string }[]>(listed === 'calls' ? callsOf(places) : itemsOf(places));
  const byKey = new Map<string, Found>();
  for (const text of texts) {
    const row = JSON.parse(text.row) as Found;
    byKey.set(keyOf(row.$id, row.$position), row);
  }
  const columns = COLUMNS[listed];
  return places.flatMap(({ id, position }) => {
    const row = byKey.get(keyOf(id, position));
    return row ? [toRow(row, columns, reveal, present)] : []; // pruned since it was found
  });
}

const keyOf = (id: string, position: number | null) => (position === null ? id : `${id}/${position}`);

function toRow(found: Found, columns: readonly Column[], reveal: boolean, present: Present): Row {
  const derived = statesOf(found, present);
  const row: Row = {};
  for (const { name, sql, refused, mask } of columns) {
    const value = (sql ?? refused) === undefined ? (derived[name] ?? null) : ((found[name] ?? null) as Cell);
    row[name] = mask && !reveal && typeof value === 'string' ? mask(value) : value;
  }
  return row;
}

/** The words that stand in no column. */
function statesOf(found: Found, present: Present): Row {
  if (found.$refused) return { outcome: 'refused' };
  const {
    $decision: decision,
    $decided_at: decidedAt,
    $answered_at: answeredAt,
    $outcome: kind,
    $held_for: heldFor,
  } = found;
  const recorded: Recorded = {
    recordedAt: new Date(found.$recorded_at ?? Number.NaN), // every intent has one
    process: found.$process,
    heldFor,
    expiresAt: found.$expires_at === null ? null : new Date(found.$expires_at),
    decision:
      decision === null
        ? null
        : { verdict: decision, decidedAt: new Date(decidedAt ?? 0), process: found.$decision_process ?? 0 },
    outcome: kind === null ? null : { kind, answeredAt: new Date(answeredAt ?? 0) },
    resolution: found.$resolution === null ? null : { verdict: found.$resolution },
  };
  const word = outcomeOf(recorded, present);
  return {
    outcome: word,
    // inDoubtSince (../outcome.ts), with its microseconds
    in_doubt_since: word === 'unknown' ? (answeredAt ?? decidedAt ?? found.$recorded_at) : null,
    approval: heldFor === null ? null : (decision ?? (word === 'expired' ? 'expired' : 'pending')),
  };
}

/** Names of ours, never of a request. */
const selected = (columns: readonly Column[], from: 'sql' | 'refused') =>
  Prisma.raw(
    columns.flatMap((column) => (column[from] === undefined ? [] : `${column[from]} AS "${column.name}"`)).join(', '),
  );

const INTENT_COLUMNS = {
  calls: selected([...COLUMNS.calls, ...STATE_COLUMNS], 'sql'),
  items: selected([...COLUMNS.items, ...STATE_COLUMNS], 'sql'),
};
const REFUSAL_COLUMNS = selected([...COLUMNS.calls, ...STATE_COLUMNS], 'refused');

/** A refusal stands for its intent, if there is one too (../records.service.ts). */
function callsOf(places: Place[]): Prisma.Sql {
  const ids = Prisma.sql`${places.map(({ id }) => id)}::uuid[]`;
  return Prisma.sql`
    SELECT row_to_json(x)::text AS row FROM (
      SELECT i.id AS "$id", NULL AS "$position", ${INTENT_COLUMNS.calls} FROM intent i ${besideIntents(ids)}
      WHERE i.id = ANY (${ids}) AND r.id IS NULL) AS x
    UNION ALL
    SELECT row_to_json(x)::text FROM (
      SELECT r.id AS "$id", NULL AS "$position", ${REFUSAL_COLUMNS} FROM refusal r LEFT JOIN client c ON c.id = r.client_id
      WHERE r.id = ANY (${ids})) AS x`;
}

function itemsOf(places: Place[]): Prisma.Sql {
  const ids = Prisma.sql`${[...new Set(places.map(({ id }) => id))]}::uuid[]`;
  const positions = Prisma.sql`${places.map(({ position }) => position)}::int[]`;
  return Prisma.sql`
    SELECT row_to_json(x)::text AS row FROM (
      SELECT i.id AS "$id", t.position AS "$position", ${INTENT_COLUMNS.items}
      FROM intent i ${besideIntents(ids)}
      JOIN intent_item t ON t.intent_id = i.id AND t.intent_id = ANY (${ids})
      JOIN unnest(${places.map(({ id }) => id)}::uuid[], ${positions}) AS wanted (id, position)
        ON wanted.id = t.intent_id AND wanted.position = t.position
      LEFT JOIN item_recipient n ON n.intent_id = t.intent_id AND n.position = t.position AND n.intent_id = ANY (${ids})
      LEFT JOIN outcome_item u ON u.intent_id = t.intent_id AND u.position = t.position AND u.intent_id = ANY (${ids})
      WHERE i.id = ANY (${ids})) AS x`;
}

/** The ids stand beside each table, so that none of its months is looked into that holds none of them. */
function besideIntents(ids: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    LEFT JOIN client c ON c.id = i.client_id
    LEFT JOIN refusal r ON r.id = i.id AND r.id = ANY (${ids})
    LEFT JOIN outcome o ON o.intent_id = i.id AND o.intent_id = ANY (${ids})
    LEFT JOIN decision d ON d.intent_id = i.id AND d.intent_id = ANY (${ids})
    LEFT JOIN resolution s ON s.intent_id = i.id AND s.intent_id = ANY (${ids})`;
}
