import { ClientBase } from 'pg';
import { uuidTime } from '../../../platform/database/uuid';
import { KindName, KIND_NAMES } from '../kinds';
import { LAST_TX, NIL, Position, Positions, recordsSql, SEALED } from './sealing-sql';

/** A record to seal. */
interface UnsealedRecord {
  id: string;
  /** Hash of its leaf. */
  hash: Buffer;
}

/** A row of log_leaves: neighboring leaves of one kind, by record ID. */
interface LeafRow {
  kind: KindName;
  records: UnsealedRecord[];
  /** Times of the first and last ID, in ms. */
  from: number;
  to: number;
}

/** Maximum gap between IDs of one row, in ms. Lookups search each row whose span contains an ID. */
const NEAR_MS = 1_000;

/** Leaves per row for records of many days, as after an outage. Otherwise each would get its own row. */
const ROW_LEAVES = 64;

/** Splits records of one kind into rows, at the widest gaps between their IDs. */
export function leafRowsOf(kind: KindName, unsealed: UnsealedRecord[]): LeafRow[] {
  const records = unsealed.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const times = records.map(({ id }) => uuidTime(id).getTime());
  const gaps = times.map((time, place) => time - (times[place - 1] ?? time));
  const cuts = 3 + Math.floor(records.length / ROW_LEAVES);
  const widest = gaps.toSorted((one, other) => other - one)[cuts] ?? 0;
  const starts = gaps.flatMap((gap, place) =>
    place === 0 || gap > Math.max(widest, NEAR_MS) ? [place] : [],
  );
  return starts.map((start, row) => {
    const end = starts[row + 1] ?? records.length;
    return { kind, records: records.slice(start, end), from: times[start]!, to: times[end - 1]! };
  });
}

/** Progress of reading the tables. */
export interface Progress {
  positions: Positions;
  /**
   * Progress in searching for rows of transactions that this server has not begun yet. They come from a
   * restored backup of another server, or from an attempt to hide them from the sealer. Undefined at the end.
   */
  foreign: Positions | undefined;
}

/** Records without a leaf, and the progress once they are sealed. */
export interface Batch extends Progress {
  rows: LeafRow[];
  /** Whether nothing else can be sealed now. */
  drained: boolean;
}

/**
 * Reads the records that can be sealed now.
 * @param state all transactions below `horizon` have ended. None from `next` on has begun.
 * @param names tables with possible new rows.
 * @param size maximum number of records.
 */
export async function readBatch(
  client: ClientBase,
  progress: Progress,
  { horizon, next }: { horizon: string; next: string },
  names: ReadonlySet<KindName>,
  size: number,
): Promise<Batch> {
  const rows: LeafRow[] = [];
  let left = size;
  const take = async (kind: KindName, [tx, id]: Position, lastTx: string): Promise<Position> => {
    if (left === 0) return [tx, id];
    const values = [tx, id, lastTx, left];
    const found = await client.query<UnsealedRecord & { tx: string }>({ ...recordsSql(kind), values });
    left -= found.rows.length;
    rows.push(...leafRowsOf(kind, found.rows));
    const last = found.rows.at(-1);
    return last ? [last.tx, last.id] : [tx, id];
  };
  const positions = positionsAt(horizon);
  for (const kind of KIND_NAMES.filter((name) => names.has(name))) {
    const reached = await take(kind, progress.positions[kind], String(BigInt(horizon) - 1n));
    if (left === 0) positions[kind] = reached;
  }
  let { foreign } = progress;
  if (left > 0 && foreign) {
    const reached = positionsAt(next);
    for (const kind of KIND_NAMES) {
      const before = foreign[kind];
      reached[kind] = await take(kind, BigInt(before[0]) < BigInt(next) ? reached[kind] : before, LAST_TX);
    }
    foreign = left > 0 ? undefined : reached;
  }
  return { rows: await withoutSealed(client, rows), positions, foreign, drained: left > 0 };
}

/** Returns the positions at the beginning of a transaction. */
export function positionsAt(tx: string): Positions {
  return Object.fromEntries(KIND_NAMES.map((name) => [name, [tx, NIL]])) as Positions;
}

/** Omits records with a leaf. After a restore, the sealer goes through all records again. */
async function withoutSealed(client: ClientBase, rows: LeafRow[]): Promise<LeafRow[]> {
  if (rows.length === 0) return rows;
  const values = [
    rows.map(({ kind }) => kind),
    rows.map(({ from }) => from),
    rows.map(({ to }) => to),
    rows.map(({ records }) => records[0]!.id),
    rows.map(({ records }) => records.at(-1)!.id),
  ];
  const found = await client.query<{ kind: KindName; id: string }>({ ...SEALED, values });
  if (found.rows.length === 0) return rows;
  const sealed = new Set(found.rows.map(({ kind, id }) => `${kind} ${id}`));
  return rows.flatMap(({ kind, records }) => {
    return leafRowsOf(
      kind,
      records.filter(({ id }) => !sealed.has(`${kind} ${id}`)),
    );
  });
}
