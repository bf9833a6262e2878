import { ClientBase } from 'pg';
import { KindName } from '../kinds';
import { HASH_BYTES } from '../merkle';
import { rowsOf } from './cursor';
import { leavesChanged, timeOfId } from './fault';

/** A row of log_leaves with the times of its checkpoints, in seconds since 1970. */
export interface Leaves {
  /** Index of the first leaf. */
  first: number;
  /** Time of the first ID, in ms. */
  from: number;
  ids: string[];
  /** Concatenated, hex. */
  hashes: string;
  /** Number of leaves whose records were checked, or may be missing. */
  done: number;
  /** Time before which all records are in earlier leaves. */
  completeUntil: number;
  sealedAt: number;
}

type LeavesRow = [
  first: string,
  low: string,
  high: string,
  ids: string,
  hashes: string,
  completeUntil: string | null,
  sealedAt: string | null,
];

/** Rows per page. A row has up to 5,000 leaves. */
const PAGE = 64;

/**
 * Reads the leaves of a kind, in the order of their first IDs.
 * @param size number of signed leaves.
 */
export async function* leavesOf(
  client: ClientBase,
  kind: KindName,
  size: number,
): AsyncGenerator<Leaves, undefined> {
  const sql = `
    SELECT l.first, lower(l.span), upper(l.span), l.ids, encode(l.hashes, 'hex'),
      (SELECT date_part('epoch', c.complete_until) FROM public.checkpoint c WHERE c.size <= l.first
        ORDER BY c.size DESC LIMIT 1),
      (SELECT date_part('epoch', c.sealed_at) FROM public.checkpoint c WHERE c.size > l.first ORDER BY c.size
        LIMIT 1)
    FROM public.log_leaves l WHERE l.kind = '${kind}' AND l.first < ${size} ORDER BY lower(l.span)`;
  for await (const row of rowsOf<LeavesRow>(client, `${kind}_leaves`, sql, PAGE)) yield leavesIn(kind, row);
  return undefined;
}

/** @throws LogFault if the sealer cannot have written the row. */
function leavesIn(
  kind: KindName,
  [first, low, high, list, hashes, completeUntil, sealedAt]: LeavesRow,
): Leaves {
  const ids = list.slice(1, -1).split(',');
  const areSorted = ids.every((id, place) => place === 0 || ids[place - 1]! < id);
  const isTheirSpan = timeOfId(ids[0]!) === Number(low) && timeOfId(ids.at(-1)!) + 1 === Number(high);
  if (!areSorted || !isTheirSpan || hashes.length !== ids.length * HASH_BYTES * 2) {
    throw leavesChanged(Number(first), kind);
  }
  return {
    first: Number(first),
    from: Number(low),
    ids,
    hashes,
    done: 0,
    completeUntil: completeUntil === null ? -Infinity : Number(completeUntil),
    sealedAt: sealedAt === null ? Infinity : Number(sealedAt),
  };
}
