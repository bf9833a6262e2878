import { foldSubtrees } from './merkle';

/** The perfect subtree over the leaves [index * 2^level, (index + 1) * 2^level). Level 0 is a leaf. */
export interface Subtree {
  level: number;
  index: number;
}

/** Returns the hashes of the subtrees, in their order. It is called once for each proof, so it costs one query. */
export type HashOf = (subtrees: Subtree[]) => Promise<Buffer[]>;

/** The leaves [from, to). */
interface Range {
  from: number;
  to: number;
}

/**
 * Returns the maximal perfect subtrees over the leaves [from, to), from left to right. The ranges of proofs are
 * subtrees of an RFC 6962 tree. For them, `foldSubtrees` over these hashes is the hash of the range.
 */
export function subtreesOf(from: number, to: number): Subtree[] {
  const subtrees: Subtree[] = [];
  for (let at = from; at < to;) {
    let level = 0;
    let width = 1;
    while (at % (width * 2) === 0 && at + width * 2 <= to) {
      level++;
      width *= 2;
    }
    subtrees.push({ level, index: at / width });
    at += width;
  }
  return subtrees;
}

/** Returns the leaves left of the split: the largest power of two below `count` (RFC 6962, section 2.1). */
function leftOf(count: number): number {
  let left = 1;
  while (left * 2 < count) left *= 2;
  return left;
}

/** PATH of RFC 9162, section 2.1.3.1, from the leaf up: the ranges whose hashes prove a leaf. */
function pathOf(index: number, { from, to }: Range): Range[] {
  if (to - from === 1) return [];
  const middle = from + leftOf(to - from);
  const [left, right] = [
    { from, to: middle },
    { from: middle, to },
  ];
  return index < middle ? [...pathOf(index, left), right] : [...pathOf(index, right), left];
}

/**
 * SUBPROOF of RFC 9162, section 2.1.4.1: the ranges whose hashes prove that the tree that ended at `end` is in the
 * range.
 */
function subproofOf(end: number, { from, to }: Range, isKnown: boolean): Range[] {
  if (end === to) return isKnown ? [] : [{ from, to }];
  const middle = from + leftOf(to - from);
  const [left, right] = [
    { from, to: middle },
    { from: middle, to },
  ];
  return end <= middle ? [...subproofOf(end, left, isKnown), right] : [...subproofOf(end, right, false), left];
}

async function hashesOf(ranges: Range[], hashOf: HashOf): Promise<Buffer[]> {
  if (ranges.length === 0) return [];
  const parts = ranges.map(({ from, to }) => subtreesOf(from, to));
  const asked = parts.flat();
  const hashes = await hashOf(asked);
  if (hashes.length !== asked.length) {
    throw new Error(`Read ${hashes.length} of ${asked.length} hashes of the Merkle tree.`);
  }
  let at = 0;
  return parts.map(({ length }) => foldSubtrees(hashes.slice(at, (at += length))));
}

/** Proves that the leaf is in the tree of the first `size` leaves (RFC 9162, section 2.1.3.1). */
export async function inclusionProof(index: number, size: number, hashOf: HashOf): Promise<Buffer[]> {
  if (!isCount(size) || !isCount(index) || index >= size) {
    throw new RangeError(`There is no leaf ${index} in a tree of ${size}.`);
  }
  return hashesOf(pathOf(index, { from: 0, to: size }), hashOf);
}

/**
 * Proves that the tree of `to` leaves begins with the tree of `from` leaves (RFC 9162, section 2.1.4.1). The proof is
 * empty if both have the same size, or if the first is empty.
 */
export async function consistencyProof(from: number, to: number, hashOf: HashOf): Promise<Buffer[]> {
  if (!isCount(from) || !isCount(to) || from > to) {
    throw new RangeError(`A tree of ${to} leaves cannot begin with one of ${from}.`);
  }
  return from === 0 ? [] : hashesOf(subproofOf(from, { from: 0, to }, true), hashOf);
}

const isCount = (count: number) => Number.isSafeInteger(count) && count >= 0;
