import fc from 'fast-check';
import { runs } from '../../../test/support/examples/runs';
import { leafHash } from '../../../test/support/records/leaf-hash';
import {
  flipped,
  mutationsOf,
  naivelyConsistent,
  naivelyIncluded,
  NaiveTree,
} from '../../../test/support/records/naive-tree';
import { verifyConsistency, verifyInclusion } from '../../../test/support/records/verified-proofs';
import {
  CompactRange,
  EMPTY_ROOT,
  consistencyProof,
  HashOf,
  inclusionProof,
  Subtree,
  subtreesOf,
} from './merkle';

const MOST = 33;
const BIG = 10_000;
const leaves = Array.from({ length: BIG }, (_, index) => Buffer.from(`leaf ${index}`));
const naive = new NaiveTree(leaves);
const node = ({ level, index }: Subtree) => `${level}/${index}`;
const nodes = new Map<string, Buffer>();

/** Stored nodes of a log: complete ones. */
const stored: HashOf = (subtrees) => Promise.resolve(subtrees.map((subtree) => nodes.get(node(subtree))!));

/** Compares hashes. Jest compares thousands of buffers too slowly. */
const isSame = (one: Buffer[], other: Buffer[]) =>
  one.length === other.length && one.every((hash, place) => hash.equals(other[place]!));

beforeAll(() => {
  const tree = CompactRange.of(0, []);
  for (const [index, leaf] of leaves.entries()) {
    nodes.set(`0/${index}`, leafHash(leaf));
    tree.append(leafHash(leaf), (level, at, hash) => nodes.set(`${level}/${at}`, hash));
  }
});

describe('subtreesOf', () => {
  it('covers a range from left to right with the largest subtrees that fit', () => {
    const listed = (from: number, to: number) => subtreesOf(from, to).map(node).join(' ');
    expect(listed(0, 0)).toBe('');
    expect(listed(0, 1)).toBe('0/0');
    expect(listed(0, 7)).toBe('2/0 1/2 0/6');
    expect(listed(4, 7)).toBe('1/2 0/6');
    expect(listed(8, 16)).toBe('3/1');
    expect(listed(0, 2 ** 45 + 1)).toBe(`45/0 0/${2 ** 45}`);
  });
});

describe('an inclusion proof', () => {
  it('proves every leaf of every small tree, as defined', async () => {
    const wrong: number[][] = [];
    for (let size = 1; size <= MOST; size++) {
      const root = naive.root(0, size);
      for (let index = 0; index < size; index++) {
        const proof = await inclusionProof(index, size, stored);
        const verified = verifyInclusion({ index, size, leafHash: leafHash(leaves[index]!), proof, root });
        if (!verified || !isSame(proof, naive.path(index, 0, size))) wrong.push([index, size]);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('fails after any change', () => {
    const accepted: object[] = [];
    for (let size = 1; size <= MOST; size++) {
      const root = naive.root(0, size);
      for (let index = 0; index < size; index++) {
        const proof = naive.path(index, 0, size);
        const claim = { index, size, leafHash: leafHash(leaves[index]!), proof, root };
        const wrong = [
          ...mutationsOf(proof, [root, claim.leafHash]).map((changed) => ({ ...claim, proof: changed })),
          ...[index - 1, index + 1, size, -1, NaN, index + 0.5].map((changed) => ({
            ...claim,
            index: changed,
          })),
          ...[0, index, -size, size + 0.5, Infinity].map((changed) => ({ ...claim, size: changed })),
          ...[leafHash('other'), EMPTY_ROOT, Buffer.alloc(0)].map((changed) => ({
            ...claim,
            leafHash: changed,
          })),
          ...[flipped(root, index), EMPTY_ROOT, Buffer.alloc(0)].map((changed) => ({
            ...claim,
            root: changed,
          })),
        ];
        accepted.push(...wrong.filter(verifyInclusion));
        // Some sizes have the same path above a leaf. Only the signature of the checkpoint binds the size.
        for (const changed of [size - 1, size + 1, size * 2, Math.floor(size / 2)]) {
          const expected = naivelyIncluded(index, changed, claim.leafHash, proof, root);
          if (verifyInclusion({ ...claim, size: changed }) !== expected)
            accepted.push({ ...claim, size: changed });
        }
      }
    }
    expect(accepted).toEqual([]);
  });

  it('proves a leaf of a large tree, and of no other', async () => {
    const place = fc
      .integer({ min: 1, max: BIG })
      .chain((size) => fc.tuple(fc.nat(size - 1), fc.constant(size)));
    const property = fc.asyncProperty(place, fc.nat(255), fc.nat(), async ([index, size], bit, at) => {
      const proof = await inclusionProof(index, size, stored);
      const claim = { index, size, leafHash: leafHash(leaves[index]!), proof, root: naive.root(0, size) };
      expect(proof).toEqual(naive.path(index, 0, size));
      expect(verifyInclusion(claim)).toBe(true);
      expect(
        mutationsOf(proof, [claim.root]).filter((changed) => verifyInclusion({ ...claim, proof: changed })),
      ).toEqual([]);
      const elsewhere = { ...claim, index: at % size, leafHash: leafHash(leaves[at % size]!) };
      expect(verifyInclusion(elsewhere)).toBe(elsewhere.index === index);
      expect(verifyInclusion({ ...claim, root: flipped(claim.root, bit) })).toBe(false);
    });
    await fc.assert(property, { numRuns: runs(60) });
  });

  it.each(['0 0', '1 1', '-1 2', '0.5 2', '0 NaN', '0 9007199254740992'])(
    'does not exist for: %s',
    async (place) => {
      const [index = NaN, size = NaN] = place.split(' ').map(Number);
      await expect(inclusionProof(index, size, stored)).rejects.toThrow('has no leaf');
    },
  );
});

describe('a consistency proof', () => {
  const rootOf = (size: number) => naive.root(0, size);

  it('connects every pair of small trees, as defined', async () => {
    const wrong: number[][] = [];
    for (let to = 0; to <= MOST; to++) {
      for (let from = 0; from <= to; from++) {
        const proof = await consistencyProof(from, to, stored);
        const verified = verifyConsistency({ from, to, fromRoot: rootOf(from), toRoot: rootOf(to), proof });
        if (!verified || !isSame(proof, from === 0 ? [] : naive.proof(from, to))) wrong.push([from, to]);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('fails after any change', () => {
    const accepted: object[] = [];
    for (let to = 1; to <= MOST; to++) {
      for (let from = 1; from <= to; from++) {
        const proof = naive.proof(from, to);
        const claim = { from, to, fromRoot: rootOf(from), toRoot: rootOf(to), proof };
        const { fromRoot, toRoot } = claim;
        const wrong = [
          ...mutationsOf(proof, [fromRoot, toRoot]).map((changed) => ({ ...claim, proof: changed })),
          ...[from - 1, from + 1, to + 1, -1, NaN, from + 0.5].map((changed) => ({
            ...claim,
            from: changed,
          })),
          ...[0, from - 1, -to, to + 0.5, Infinity].map((changed) => ({ ...claim, to: changed })),
          ...[flipped(fromRoot, to), EMPTY_ROOT, Buffer.alloc(0)].map((changed) => ({
            ...claim,
            fromRoot: changed,
          })),
          ...[flipped(toRoot, from), EMPTY_ROOT, Buffer.alloc(0)].map((changed) => ({
            ...claim,
            toRoot: changed,
          })),
          ...(from < to
            ? [
                { ...claim, fromRoot: toRoot, toRoot: fromRoot },
                { ...claim, proof: [] },
              ]
            : []),
          ...(from < to ? [{ ...claim, from: to, to: from, fromRoot: toRoot, toRoot: fromRoot }] : []),
        ];
        accepted.push(...wrong.filter(verifyConsistency));
        for (const changed of from < to ? [to - 1, to + 1, to * 2] : []) {
          const expected = naivelyConsistent(from, changed, fromRoot, toRoot, proof);
          if (verifyConsistency({ ...claim, to: changed }) !== expected)
            accepted.push({ ...claim, to: changed });
        }
      }
    }
    expect(accepted).toEqual([]);
  });

  it('connects large trees', async () => {
    const pair = fc
      .integer({ min: 2, max: BIG })
      .chain((to) => fc.tuple(fc.integer({ min: 1, max: to }), fc.constant(to)));
    const property = fc.asyncProperty(pair, fc.nat(255), async ([from, to], bit) => {
      const proof = await consistencyProof(from, to, stored);
      const claim = { from, to, fromRoot: rootOf(from), toRoot: rootOf(to), proof };
      expect(proof).toEqual(naive.proof(from, to));
      expect(verifyConsistency(claim)).toBe(true);
      const wrong = mutationsOf(proof, [claim.fromRoot, claim.toRoot]);
      expect(wrong.filter((changed) => verifyConsistency({ ...claim, proof: changed }))).toEqual([]);
      expect(verifyConsistency({ ...claim, fromRoot: flipped(claim.fromRoot, bit) })).toBe(false);
      expect(verifyConsistency({ ...claim, toRoot: flipped(claim.toRoot, bit) })).toBe(false);
    });
    await fc.assert(property, { numRuns: runs(60) });
  });

  it('detects a changed leaf before the earlier size, and ignores leaves after it', () => {
    const other = new NaiveTree(leaves.map((leaf, index) => (index === 20 ? Buffer.from('forged') : leaf)));
    const holds = (from: number, to: number) =>
      verifyConsistency({
        from,
        to,
        fromRoot: rootOf(from),
        toRoot: other.root(0, to),
        proof: other.proof(from, to),
      });
    expect([holds(20, 50), holds(21, 50), holds(50, 64)]).toEqual([true, false, false]);
  });

  it('is empty for the empty tree, which every tree contains', () => {
    const claim = { from: 0, to: 3, fromRoot: EMPTY_ROOT, toRoot: rootOf(3), proof: [] };
    expect(verifyConsistency(claim)).toBe(true);
    expect(verifyConsistency({ ...claim, fromRoot: rootOf(1) })).toBe(false);
    expect(verifyConsistency({ ...claim, proof: [rootOf(3)] })).toBe(false);
    expect(verifyConsistency({ ...claim, to: 0, toRoot: EMPTY_ROOT })).toBe(true);
    expect(verifyConsistency({ ...claim, to: 0, fromRoot: rootOf(1), toRoot: rootOf(1) })).toBe(false);
  });

  it.each(['2 1', '-1 1', '0.5 1', '1 NaN', '1 9007199254740992'])('does not exist for: %s', async (pair) => {
    const [from = NaN, to = NaN] = pair.split(' ').map(Number);
    await expect(consistencyProof(from, to, stored)).rejects.toThrow('cannot begin with');
  });
});

it('reports missing hashes', async () => {
  await expect(inclusionProof(0, 4, () => Promise.resolve([EMPTY_ROOT]))).rejects.toThrow('2 hashes');
});
