import { type Bytes, HASH_BYTES, isSame, joined, sha256, utf8 } from './bytes.ts';

// Verification of proofs in the Merkle tree of RFC 6962 and RFC 9162.

const [LEAF, NODE] = [Uint8Array.of(0), Uint8Array.of(1)];

/** Returns SHA-256(0x00 || leaf), RFC 6962, section 2.1. */
export const leafHash = (leaf: string): Promise<Bytes> => sha256(LEAF, utf8(leaf));

/** Returns SHA-256(0x01 || left || right), RFC 6962, section 2.1. */
const nodeHash = (left: Uint8Array, right: Uint8Array): Promise<Bytes> => sha256(NODE, joined(left, right));

interface InclusionClaim {
  index: number;
  size: number;
  leafHash: Uint8Array;
  proof: readonly Uint8Array[];
  root: Uint8Array;
}

/** Checks an inclusion proof (RFC 9162, section 2.1.3.2). Returns false for malformed proofs too. */
export async function verifyInclusion({
  index,
  size,
  leafHash,
  proof,
  root,
}: InclusionClaim): Promise<boolean> {
  if (!isCount(size) || !isCount(index) || index >= size) return false;
  if (![leafHash, root, ...proof].every(isHash)) return false;
  // fn and sn of RFC 9162: the paths up from the leaf and from the last leaf.
  let [node, last] = [index, size - 1];
  let hash = leafHash;
  for (const sibling of proof) {
    if (last === 0) return false;
    if (isOdd(node) || node === last) {
      hash = await nodeHash(sibling, hash);
      while (!isOdd(node) && node !== 0) [node, last] = [half(node), half(last)];
    } else {
      hash = await nodeHash(hash, sibling);
    }
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && isSame(hash, root);
}

interface ConsistencyClaim {
  from: number;
  to: number;
  fromRoot: Uint8Array;
  toRoot: Uint8Array;
  proof: readonly Uint8Array[];
}

/** Checks a consistency proof (RFC 9162, section 2.1.4.2) from a tree with at least one leaf. */
export async function verifyConsistency(claim: ConsistencyClaim): Promise<boolean> {
  const { from, to, fromRoot, toRoot, proof } = claim;
  if (!isCount(from) || !isCount(to) || from === 0 || from > to) return false;
  if (![fromRoot, toRoot, ...proof].every(isHash)) return false;
  if (from === to) return proof.length === 0 && isSame(fromRoot, toRoot);

  let [node, last] = [from - 1, to - 1];
  while (isOdd(node)) [node, last] = [half(node), half(last)];
  // If the earlier size is a power of two, its tree is a node of the later one. The proof omits its root.
  const [start, ...path] = node === 0 ? [fromRoot, ...proof] : proof;
  if (start === undefined) return false;
  let [earlier, later] = [start, start];
  for (const sibling of path) {
    if (last === 0) return false;
    if (isOdd(node) || node === last) {
      earlier = await nodeHash(sibling, earlier);
      later = await nodeHash(sibling, later);
      while (!isOdd(node) && node !== 0) [node, last] = [half(node), half(last)];
    } else {
      later = await nodeHash(later, sibling);
    }
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && isSame(earlier, fromRoot) && isSame(later, toRoot);
}

const isCount = (count: number) => Number.isSafeInteger(count) && count >= 0;
const isHash = ({ length }: Uint8Array) => length === HASH_BYTES;
// Bit operators would cut numbers to 32 bits.
const isOdd = (count: number) => count % 2 === 1;
const half = (count: number) => Math.floor(count / 2);
