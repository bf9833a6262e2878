import { ClientBase } from 'pg';
import { CompactRange, HASH_BYTES, Subtree } from './merkle';

/** Interval of levels with stored hashes (log_node). Others are computed from at most 128 stored hashes. */
export const STORED_LEVEL_INTERVAL = 8;

/** Runs a query, with pg or with Prisma. */
export type QueryRunner = <Row extends object>(sql: string, values: unknown[]) => Promise<Row[]>;

export function queryRunner(client: ClientBase): QueryRunner {
  return async <Row extends object>(sql: string, values: unknown[]) =>
    (await client.query<Row>(sql, values)).rows;
}

/** A log whose tables do not form a tree: hashes are missing. */
export class DamagedLog extends Error {}

/** Finds stored hashes, concatenated. A row of leaves may contain further hashes at both ends. */
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
export async function storedHashes(query: QueryRunner, subtrees: Subtree[]): Promise<Buffer[]> {
  const ranges = subtrees.map(({ level, index }) => {
    const storedLevel = level - (level % STORED_LEVEL_INTERVAL);
    const count = 2 ** (level - storedLevel);
    return { level: storedLevel, first: index * count, count };
  });
  if (ranges.length === 0) return [];
  const rows = await query<{ place: number; hashes: string }>(STORED, [
    ranges.map(({ level }) => level),
    ranges.map(({ first }) => first),
    ranges.map(({ first, count }) => first + count),
  ]);
  const stored = ranges.map(() => '');
  for (const { place, hashes } of rows) stored[place - 1] += hashes;
  return ranges.map(({ level, first, count }, place) => {
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
