import { uuidTime } from '../../platform/database/uuid';
import { KindName } from './kinds';

/** A record to seal. */
export interface Unsealed {
  id: string;
  /** The hash of its leaf. */
  hash: Buffer;
}

/** A row of log_leaves: neighboring leaves of one kind, by the IDs of their records. */
export interface LeafRow {
  kind: KindName;
  records: Unsealed[];
  /** The milliseconds in the first ID and in the last. */
  from: number;
  to: number;
}

/**
 * A look-up searches all rows whose span contains an ID, so a few late records must not widen the row of a busy second.
 * IDs this close together stay in one row.
 */
const NEAR_MS = 1_000;

/** Records of many days, as after an outage, share rows of this many. Otherwise, each would have a row of its own. */
const ROW_LEAVES = 64;

/** Cuts records of one kind into rows, at the widest gaps between their IDs. */
export function leafRowsOf(kind: KindName, unsealed: Unsealed[]): LeafRow[] {
  const records = unsealed.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const times = records.map(({ id }) => uuidTime(id).getTime());
  const gaps = times.map((time, place) => time - (times[place - 1] ?? time));
  const cuts = 3 + Math.floor(records.length / ROW_LEAVES);
  const widest = gaps.toSorted((one, other) => other - one)[cuts] ?? 0;
  const starts = gaps.flatMap((gap, place) => (place === 0 || gap > Math.max(widest, NEAR_MS) ? [place] : []));
  return starts.map((start, row) => {
    const end = starts[row + 1] ?? records.length;
    return { kind, records: records.slice(start, end), from: times[start]!, to: times[end - 1]! };
  });
}
