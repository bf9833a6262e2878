import { ClientBase } from 'pg';
import { CompactRange, HASH_BYTES, Subtree } from './merkle';

/**
 * Interval of the levels whose subtree hashes are stored (log_node). Hashes in between are computed from at
 * most 128 stored ones.
 */
export const KEPT_EVERY = 8;

/** Runs a query, with pg or with Prisma. */
export type Ask = <Row extends object>(sql: string, values: unknown[]) => Promise<Row[]>;

export function askWith(client: ClientBase): Ask {
  return async <Row extends object>(sql: string, values: unknown[]) =>
    (await client.query<Row>(sql, values)).rows;
}

/** A log whose tables do not form a tree: hashes are missing. */
export class DamagedLog extends Error {}

/**
 * Finds stored hashes, concatenated. A row of leaves may begin before the first of them, and end after the
 * last.
 */
const STORED = `
  SELECT r.place::integer AS place, encode(s.hashes, 'hex') AS hashes
  FROM unnest($1::integer[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS r (level, first, last, place)
  CROSS JOIN LATERAL (
    SELECT l.first, substring(l.hashes FROM (greatest(r.first - l.first, 0) * 32 + 1)::integer
      FOR (r.last - greatest(r.first, l.first))::integer * 32) AS hashes
    FROM public.log_leaves l WHERE r.level = 0 AND l.first < r.last
      AND l.first >= coalesce((SELECT max(b.first) FROM public.log_leaves b WHERE b.first <= r.first), 0)
    UNION ALL
    SELECT n.index, n.hash FROM public.log_node n
    WHERE r.level > 0 AND n.level = r.level AND n.index >= r.first AND n.index < r.last
  ) s
  ORDER BY r.place, s.first`;

/** Reads the hashes of perfect subtrees, in their order, with one query. */
export async function storedHashes(ask: Ask, subtrees: Subtree[]): Promise<Buffer[]> {
  const kept = subtrees.map(({ level, index }) => {
    const keptLevel = level - (level % KEPT_EVERY);
    const count = 2 ** (level - keptLevel);
    return { level: keptLevel, first: index * count, count };
  });
  if (kept.length === 0) return [];
  const rows = await ask<{ place: number; hashes: string }>(STORED, [
    kept.map(({ level }) => level),
    kept.map(({ first }) => first),
    kept.map(({ first, count }) => first + count),
  ]);
  const stored = kept.map(() => '');
  for (const { place, hashes } of rows) stored[place - 1] += hashes;
  return kept.map(({ level, first, count }, place) => {
    const hashes = hashesIn(Buffer.from(stored[place]!, 'hex'));
    if (hashes.length !== count) {
      throw new DamagedLog(
        `${count - hashes.length} of the log's ${level === 0 ? 'leaves' : `nodes of level ${level}`} ` +
          `from ${first} to ${first + count - 1} are missing`,
      );
    }
    const range = CompactRange.of(0, []);
    for (const hash of hashes) range.append(hash);
    return range.root();
  });
}

/** Splits concatenated hashes. */
export function hashesIn(bytes: Buffer): Buffer[] {
  const hashes: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += HASH_BYTES) hashes.push(bytes.subarray(at, at + HASH_BYTES));
  return hashes;
}
