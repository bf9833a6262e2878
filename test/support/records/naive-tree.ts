import { createHash } from 'node:crypto';

/**
 * The Merkle tree of RFC 6962, written from its definitions alone, to compare with src/history/log. Shares no
 * code with it, works on slices of all leaves and is slow. Only roots are cached.
 */
export class NaiveTree {
  readonly #roots = new Map<string, Buffer>();

  constructor(private readonly leaves: Buffer[]) {}

  /** MTH over the leaves [from, to), section 2.1. */
  root(from: number, to: number): Buffer {
    const known = this.#roots.get(`${from}-${to}`) ?? this.#hash(from, to);
    this.#roots.set(`${from}-${to}`, known);
    return known;
  }

  #hash(from: number, to: number): Buffer {
    if (to === from) return sha256();
    if (to === from + 1) return sha256(Buffer.of(0), this.leaves[from]!);
    const k = from + split(to - from);
    return sha256(Buffer.of(1), this.root(from, k), this.root(k, to));
  }

  /** PATH(m, D[n]), section 2.1.1, for D = the leaves [from, to). */
  path(m: number, from: number, to: number): Buffer[] {
    if (to === from + 1) return [];
    const k = split(to - from);
    return m < k
      ? [...this.path(m, from, from + k), this.root(from + k, to)]
      : [...this.path(m - k, from + k, to), this.root(from, from + k)];
  }

  /** PROOF(m, D[n]), section 2.1.2. */
  proof(m: number, n: number): Buffer[] {
    return this.#subproof(m, 0, n, true);
  }

  #subproof(m: number, from: number, to: number, complete: boolean): Buffer[] {
    const n = to - from;
    if (m === n) return complete ? [] : [this.root(from, to)];
    const k = split(n);
    return m <= k
      ? [...this.#subproof(m, from, from + k, complete), this.root(from + k, to)]
      : [...this.#subproof(m - k, from + k, to, false), this.root(from, from + k)];
  }
}

/** Verifies an inclusion proof from the top: each last hash is the sibling of the previous ones' root. */
export function naivelyIncluded(
  index: number,
  size: number,
  leaf: Buffer,
  proof: Buffer[],
  root: Buffer,
): boolean {
  const climb = (m: number, n: number, path: Buffer[]): Buffer | undefined => {
    if (n === 1) return path.length === 0 ? leaf : undefined;
    if (path.length === 0) return undefined;
    const [k, sibling, rest] = [split(n), path.at(-1)!, path.slice(0, -1)];
    const below = m < k ? climb(m, k, rest) : climb(m - k, n - k, rest);
    return below && (m < k ? sha256(Buffer.of(1), below, sibling) : sha256(Buffer.of(1), sibling, below));
  };
  return index >= 0 && index < size && climb(index, size, proof)?.equals(root) === true;
}

/** Verifies a consistency proof for 0 < from < to, from the top: each step has both roots below it. */
export function naivelyConsistent(
  from: number,
  to: number,
  fromRoot: Buffer,
  toRoot: Buffer,
  proof: Buffer[],
) {
  const climb = (m: number, n: number, path: Buffer[], complete: boolean): [Buffer, Buffer] | undefined => {
    if (m === n) {
      if (complete) return path.length === 0 ? [fromRoot, fromRoot] : undefined;
      return path.length === 1 ? [path[0]!, path[0]!] : undefined;
    }
    if (path.length === 0) return undefined;
    const [k, sibling, rest] = [split(n), path.at(-1)!, path.slice(0, -1)];
    if (m <= k) {
      const below = climb(m, k, rest, complete);
      return below && [below[0], sha256(Buffer.of(1), below[1], sibling)];
    }
    const below = climb(m - k, n - k, rest, false);
    return below && [sha256(Buffer.of(1), sibling, below[0]), sha256(Buffer.of(1), sibling, below[1])];
  };
  if (from <= 0 || from >= to) return false;
  const roots = climb(from, to, proof, true);
  return roots !== undefined && roots[0].equals(fromRoot) && roots[1].equals(toRoot);
}

/** Returns the hash with one bit changed. */
export function flipped(hash: Buffer, bit: number): Buffer {
  const changed = Buffer.from(hash);
  changed[bit >> 3]! ^= 1 << (bit & 7);
  return changed;
}

/** Returns all broken variants of a proof of the same claim. `also` are hashes to insert. */
export function mutationsOf(proof: Buffer[], also: Buffer[]): Buffer[][] {
  const garbage = sha256(Buffer.from('garbage'));
  const at = proof.map((_, place) => place);
  return [
    ...at.map((place) => proof.with(place, flipped(proof[place]!, (place * 37 + proof.length * 11) % 256))),
    ...at.map((place) => proof.with(place, garbage)),
    ...at.map((place) => proof.toSpliced(place, 1)),
    ...[...at, proof.length].map((place) => proof.toSpliced(place, 0, proof[place] ?? garbage)),
    ...at.slice(1).map((place) => proof.with(place, proof[place - 1]!).with(place - 1, proof[place]!)),
    ...also.flatMap((hash) => [
      [hash, ...proof],
      [...proof, hash],
    ]),
    ...[Buffer.alloc(0), garbage.subarray(1)].flatMap((hash) => [
      [hash, ...proof],
      [...proof, hash],
    ]),
  ];
}

/** "Let k be the largest power of two smaller than n." */
function split(n: number): number {
  return 2 ** (Math.ceil(Math.log2(n)) - 1);
}

function sha256(...parts: Buffer[]): Buffer {
  return createHash('sha256').update(Buffer.concat(parts)).digest();
}
