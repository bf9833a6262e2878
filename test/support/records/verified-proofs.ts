import { EMPTY_ROOT, HASH_BYTES, nodeHash } from '../../../src/history/log/merkle';

/** Verifies an inclusion proof by RFC 9162, section 2.1.3.2. Returns false for other values. Never throws. */
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
  // fn and sn of RFC 9162: the path up from the leaf and from the last leaf
  let [node, last] = [index, size - 1];
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

/** Verifies a consistency proof by RFC 9162, section 2.1.4.2. Unneeded proofs must be empty. Never throws. */
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
  if (from === to)
    return proof.length === 0 && isSame(fromRoot, toRoot) && (to > 0 || isSame(toRoot, EMPTY_ROOT));
  if (from === 0) return proof.length === 0 && isSame(fromRoot, EMPTY_ROOT);

  let [node, last] = [from - 1, to - 1];
  while (isOdd(node)) [node, last] = [half(node), half(last)];
  // If the size is a power of two, the earlier tree is a node of the later one, and the proof omits its root.
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
// No bit operators, because they truncate numbers to 32 bits.
const isOdd = (count: number) => count % 2 === 1;
const half = (count: number) => Math.floor(count / 2);
