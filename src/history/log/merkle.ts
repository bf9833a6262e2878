import { hash } from 'node:crypto';

/** Size of a SHA-256 hash in bytes. */
export const HASH_BYTES = 32;

/** Root of the empty tree: SHA-256 of nothing (RFC 6962, section 2.1). */
export const EMPTY_ROOT = hash('sha256', '', 'buffer');

/**
 * Returns SHA-256(0x00 || leaf), hex (RFC 6962, section 2.1). The prefix separates leaves from nodes. Without
 * it, two concatenated hashes could pass for a leaf. Text is a fifth faster than a buffer per leaf.
 */
export function leafHash(leaf: string): string {
  return hash('sha256', `\0${leaf}`, 'hex');
}

/** Buffer for all nodes, a third faster than one per node. Hashing is synchronous. */
const nodeInput = Buffer.alloc(1 + 2 * HASH_BYTES, 0x01);

/**
 * Returns SHA-256(0x01 || left || right) (RFC 6962, section 2.1).
 * @throws RangeError unless both have 32 bytes.
 */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  if (left.length !== HASH_BYTES || right.length !== HASH_BYTES) throw new RangeError('A hash has 32 bytes.');
  nodeInput.set(left, 1);
  nodeInput.set(right, 1 + HASH_BYTES);
  return Buffer.from(hash('sha256', nodeInput, 'binary'), 'binary'); // Twice as fast as a buffer from hash.
}

/**
 * Returns the root over neighboring perfect subtrees, given from left to right in decreasing size. Smaller
 * subtrees on the right hang below larger ones on the left. No subtrees have the root of the empty tree.
 */
export function foldSubtrees(hashes: readonly Buffer[]): Buffer {
  if (hashes.length === 0) return EMPTY_ROOT;
  return hashes.reduceRight((right, left) => nodeHash(left, right));
}

/**
 * Right edge of a Merkle tree: the hashes of its maximal perfect subtrees from left to right, one for each
 * set bit of its size. They suffice to append leaves and to compute the root.
 */
export class CompactRange {
  private constructor(
    /** Number of leaves. */
    public size: number,
    readonly hashes: Buffer[],
  ) {}

  /**
   * Continues a tree of `size` leaves from the hashes of `subtreesOf(0, size)`.
   * @throws RangeError if the hashes do not match the size.
   */
  static of(size: number, hashes: readonly Buffer[]): CompactRange {
    const expected =
      Number.isSafeInteger(size) && size >= 0 ? size.toString(2).replaceAll('0', '').length : undefined;
    if (hashes.length !== expected || hashes.some(({ length }) => length !== HASH_BYTES)) {
      throw new RangeError(
        `These ${hashes.length} hashes are not the right edge of a tree of ${size} leaves.`,
      );
    }
    return new CompactRange(size, [...hashes]);
  }

  /**
   * Appends a leaf by its hash. Calls `onNode` for each perfect subtree of two or more leaves that becomes
   * complete, from the lowest up. Its leaves are [index * 2^level, (index + 1) * 2^level).
   */
  append(leafHash: Buffer, onNode?: (level: number, index: number, hash: Buffer) => void): void {
    if (leafHash.length !== HASH_BYTES) throw new RangeError('A hash has 32 bytes.');
    let hash = leafHash;
    let index = this.size;
    for (let level = 1; index % 2 === 1; level++) {
      hash = nodeHash(this.hashes.pop()!, hash);
      index = (index - 1) / 2; // No bit shifts: sizes exceed 32 bits.
      onNode?.(level, index, hash);
    }
    this.hashes.push(hash);
    this.size++;
  }

  root(): Buffer {
    return foldSubtrees(this.hashes);
  }
}

/** The perfect subtree over the leaves [index * 2^level, (index + 1) * 2^level). Level 0 is a leaf. */
export interface Subtree {
  level: number;
  index: number;
}

/** Returns the hashes of the subtrees, in their order. Called once per proof, at the cost of one query. */
export type HashOf = (subtrees: Subtree[]) => Promise<Buffer[]>;

/** The leaves [from, to). */
interface Range {
  from: number;
  to: number;
}

/**
 * Returns the maximal perfect subtrees over the leaves [from, to), from left to right. The ranges of proofs
 * are subtrees of an RFC 6962 tree. For them, `foldSubtrees` over these hashes is the hash of the range.
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

/** SUBPROOF of RFC 9162, section 2.1.4.1: the ranges whose hashes prove a range with the tree up to `end`. */
function subproofOf(end: number, { from, to }: Range, isKnown: boolean): Range[] {
  if (end === to) return isKnown ? [] : [{ from, to }];
  const middle = from + leftOf(to - from);
  const [left, right] = [
    { from, to: middle },
    { from: middle, to },
  ];
  return end <= middle
    ? [...subproofOf(end, left, isKnown), right]
    : [...subproofOf(end, right, false), left];
}

async function hashesOf(ranges: Range[], hashOf: HashOf): Promise<Buffer[]> {
  if (ranges.length === 0) return [];
  const parts = ranges.map(({ from, to }) => subtreesOf(from, to));
  const subtrees = parts.flat();
  const hashes = await hashOf(subtrees);
  if (hashes.length !== subtrees.length) {
    throw new Error(`Read ${hashes.length} of ${subtrees.length} hashes of the Merkle tree.`);
  }
  let at = 0;
  return parts.map(({ length }) => foldSubtrees(hashes.slice(at, (at += length))));
}

/** Proves that the leaf is in the tree of the first `size` leaves (RFC 9162, section 2.1.3.1). */
export async function inclusionProof(index: number, size: number, hashOf: HashOf): Promise<Buffer[]> {
  if (!isCount(size) || !isCount(index) || index >= size) {
    throw new RangeError(`A tree of ${size} leaves has no leaf ${index}.`);
  }
  return hashesOf(pathOf(index, { from: 0, to: size }), hashOf);
}

/**
 * Proves that the tree of `to` leaves begins with the tree of `from` leaves (RFC 9162, section 2.1.4.1). The
 * proof is empty if both have the same size, or if the first is empty.
 */
export async function consistencyProof(from: number, to: number, hashOf: HashOf): Promise<Buffer[]> {
  if (!isCount(from) || !isCount(to) || from > to) {
    throw new RangeError(`A tree of ${to} leaves cannot begin with one of ${from}.`);
  }
  return from === 0 ? [] : hashesOf(subproofOf(from, { from: 0, to }, true), hashOf);
}

const isCount = (count: number) => Number.isSafeInteger(count) && count >= 0;
