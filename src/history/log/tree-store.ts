import { nodeHash } from './merkle';
import { Subtree, subtreesOf } from './proofs';

/**
 * A subtree's hash is stored at every eighth level (log_node). Hashes between are computed from at most 128 stored
 * ones.
 */
export const KEPT_EVERY = 8;

/** Runs a query, with pg or with Prisma. */
export type Ask = <Row extends object>(sql: string, values: unknown[]) => Promise<Row[]>;

/** The tables of the log do not form a tree: hashes are missing. */
export class DamagedLog extends Error {}

const STORED = `
  SELECT r.place::integer AS place, s.index::text AS index, encode(s.hash, 'hex') AS hash
  FROM unnest($1::integer[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS r (level, first, last, place)
  CROSS JOIN LATERAL (
    SELECT l.index, l.hash FROM public.log_leaf l WHERE r.level = 0 AND l.index >= r.first AND l.index < r.last
    UNION ALL
    SELECT n.index, n.hash FROM public.log_node n
    WHERE r.level > 0 AND n.level = r.level AND n.index >= r.first AND n.index < r.last
  ) s
  ORDER BY r.place, s.index`;

/** Reads the hashes of perfect subtrees, in their order, with one query. */
export async function storedHashes(ask: Ask, subtrees: Subtree[]): Promise<Buffer[]> {
  const kept = subtrees.map(({ level, index }) => {
    const keptLevel = level - (level % KEPT_EVERY);
    const count = 2 ** (level - keptLevel);
    return { level: keptLevel, first: index * count, count };
  });
  if (kept.length === 0) return [];
  const rows = await ask<{ place: number; hash: string }>(STORED, [
    kept.map(({ level }) => level),
    kept.map(({ first }) => first),
    kept.map(({ first, count }) => first + count),
  ]);
  const hashes = kept.map((): Buffer[] => []);
  for (const { place, hash } of rows) hashes[place - 1]?.push(Buffer.from(hash, 'hex'));
  return kept.map(({ level, first, count }, place) => {
    const found = hashes[place] ?? [];
    if (found.length !== count) {
      throw new DamagedLog(
        `${count - found.length} of the log's ${level === 0 ? 'leaves' : `nodes of level ${level}`} from ${first} to ${first + count - 1} are missing`,
      );
    }
    return perfectRoot(found);
  });
}

/** Reads the right edge of the tree of `size` leaves, for `CompactRange.of`. */
export function storedEdge(ask: Ask, size: number): Promise<Buffer[]> {
  return storedHashes(ask, subtreesOf(0, size));
}

/** Returns the root of neighboring hashes. Their number is a power of two. */
function perfectRoot(hashes: Buffer[]): Buffer {
  let row = hashes;
  while (row.length > 1) {
    const [above, below]: [Buffer[], Buffer[]] = [[], row];
    for (let at = 0; at < below.length; at += 2) above.push(nodeHash(below[at]!, below[at + 1]!));
    row = above;
  }
  return row[0]!;
}
