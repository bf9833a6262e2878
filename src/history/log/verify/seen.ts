import { KindName } from '../kinds';
import { RecordRow } from './chunks';

/** The number of rows of each table that belong to leaves of the log. */
export interface Seen {
  records: Partial<Record<KindName, number>>;
  /** Rows beside records, by the kind of the record. */
  beside: Partial<Record<KindName, number>>;
  nodes: number;
  checkpoints: number;
  /** Missing records that prunings explain. */
  pruned: number;
}

export function newSeen(): Seen {
  return { records: {}, beside: {}, nodes: 0, checkpoints: 0, pruned: 0 };
}

export function countRecord({ records, beside }: Seen, kind: KindName, [, , , hasBody]: RecordRow): void {
  records[kind] = (records[kind] ?? 0) + 1;
  if (hasBody === '1') beside[kind] = (beside[kind] ?? 0) + 1;
}
