import { ClientBase } from 'pg';
import { KIND_NAMES, KindName } from './kinds';
import { LeafRow, leafRowsOf, Unsealed } from './leaf-rows';
import { LAST_TX, NIL, Position, Positions, recordsSql, SEALED } from './sealing-sql';

/** How far the tables are read. */
export interface Progress {
  positions: Positions;
  /**
   * How far this process has looked for rows of transactions that this server has not begun yet. They came with a restored
   * backup of another server, or somebody gave them this number to hide them from the sealer. Undefined if it is done.
   */
  foreign: Positions | undefined;
}

/** Records that have no leaf yet, and the progress once they are sealed. */
export interface Batch extends Progress {
  rows: LeafRow[];
  /** Whether nothing else can be sealed now. */
  drained: boolean;
}

/**
 * Reads what can be sealed now.
 * @param horizon all transactions below it have ended. None from `next` on has begun.
 * @param names the tables that may have new rows.
 * @param size the largest number of records.
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
    const found = await client.query<Unsealed & { tx: string }>({ ...recordsSql(kind), values });
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

/** The positions at the beginning of a transaction. */
export function positionsAt(tx: string): Positions {
  return Object.fromEntries(KIND_NAMES.map((name) => [name, [tx, NIL]])) as Positions;
}

/** Leaves out records that have a leaf. After a restore, the sealer looks through all of them again. */
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
