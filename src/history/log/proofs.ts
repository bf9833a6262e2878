import { EMPTY_ROOT, foldSubtrees, HASH_BYTES, nodeHash } from './merkle';

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

/** Verifies as RFC 9162, section 2.1.3.2. Never throws: returns false for anything that is not a proof. */
export function verifyInclusion(claim: {
  index: number;
  size: number;
  leafHash: Uint8Array;
  proof: readonly Uint8Array[];
  root: Uint8Array;
}): boolean {
  const { index, size, leafHash, proof, root } = claim;
  if (!isCount(size) || !isCount(index) || index >= size) return false;
  if (![leafHash, root, ...proof].every(isHash)) return false;
  let [node, last] = [index, size - 1]; // fn and sn of RFC 9162: the way up from the leaf and from the last leaf
  let hash = leafHash;
  for (const sibling of proof) {
    if (last === 0) return false;
    if (isOdd(node) || node === last) {
      hash = nodeHash(sibling, hash);
      while (!isOdd(node) && node !== 0) [node, last] = [half(node), half(last)];
    } else {
      hash = nodeHash(hash, sibling);
    }
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && isSame(hash, root);
}

/** Verifies as RFC 9162, section 2.1.4.2. Accepts an empty proof if none is needed. Never throws. */
export function verifyConsistency(claim: {
  from: number;
  to: number;
  fromRoot: Uint8Array;
  toRoot: Uint8Array;
  proof: readonly Uint8Array[];
}): boolean {
  const { from, to, fromRoot, toRoot, proof } = claim;
  if (!isCount(from) || !isCount(to) || from > to) return false;
  if (![fromRoot, toRoot, ...proof].every(isHash)) return false;
  if (from === to) return proof.length === 0 && isSame(fromRoot, toRoot) && (to > 0 || isSame(toRoot, EMPTY_ROOT));
  if (from === 0) return proof.length === 0 && isSame(fromRoot, EMPTY_ROOT);

  let [node, last] = [from - 1, to - 1];
  while (isOdd(node)) [node, last] = [half(node), half(last)];
  // If the size is a power of two, the earlier tree is a node of the later one, and the proof does not repeat its root.
  const [start, ...path] = node === 0 ? [fromRoot, ...proof] : proof;
  if (start === undefined) return false;
  let [earlier, later] = [start, start];
  for (const sibling of path) {
    if (last === 0) return false;
    if (isOdd(node) || node === last) {
      earlier = nodeHash(sibling, earlier);
      later = nodeHash(sibling, later);
      while (!isOdd(node) && node !== 0) [node, last] = [half(node), half(last)];
    } else {
      later = nodeHash(later, sibling);
    }
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && isSame(earlier, fromRoot) && isSame(later, toRoot);
}

const isCount = (count: number) => Number.isSafeInteger(count) && count >= 0;
const isHash = ({ length }: Uint8Array) => length === HASH_BYTES;
const isSame = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0;
// No bit operators, because they cut numbers to 32 bits.
const isOdd = (count: number) => count % 2 === 1;
const half = (count: number) => Math.floor(count / 2);
