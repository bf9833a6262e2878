import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { Present } from '../../operations/lifecycle';
import { Listed } from '../search/cursor';
import { Place } from '../records/records.service';
import { Column, COLUMNS } from './columns';
import { Cell } from '../../http/answers/csv';
import { ExportedCall, itemOf, readExportedCalls } from './exported-call';

/** Cells in the order of the columns. */
export type ExportRow = Cell[];

/** Reads the export rows of these calls or payouts from the records themselves, in the given order. */
export async function readRows(
  prisma: ReaderPrisma,
  listed: Listed,
  places: Place[],
  reveal: boolean,
  present: Present,
): Promise<ExportRow[]> {
  const calls = await readExportedCalls(prisma, listed, [...new Set(places.map(({ id }) => id))], present);
  return places.flatMap(({ id, position }) => {
    const call = calls.get(id);
    if (!call) return []; // pruned in the meantime
    if (listed === 'calls') return [toRow(call.refusal ? asRefused(call) : call, COLUMNS.calls, reveal)];
    const item = position === null ? undefined : itemOf(call, position);
    return item ? [toRow({ call, ...item }, COLUMNS.items, reveal)] : [];
  });
}

/** A refusal replaces its intent, if the call has both (../records/records.service.ts). */
function asRefused(call: ExportedCall): ExportedCall {
  return { ...call, intent: null, outcome: null, decision: null, settlements: [] };
}

function toRow<Row>(from: Row, columns: readonly Column<Row>[], reveal: boolean): ExportRow {
  return columns.map(({ of, mask }) => {
    const value = of(from) ?? null;
    return mask && !reveal && typeof value === 'string' ? mask(value) : value;
  });
}
