import fc from 'fast-check';
import {
  CompactRange,
  consistencyProof,
  foldSubtrees,
  HashOf,
  inclusionProof,
  nodeHash,
  Subtree,
  subtreesOf,
} from '../../../../src/history/log/merkle.ts';
import { leafHash as logged } from '../../../../test/support/records/leaf-hash.ts';
import { flipped, mutationsOf, NaiveTree } from '../../../../test/support/records/naive-tree.ts';
import * as published from '../../../../test/support/records/published-vectors.ts';
import { leafHash, verifyConsistency, verifyInclusion } from './merkle.ts';

const MOST = 700;
const leaves = Array.from({ length: MOST }, (_, index) => Buffer.from(`leaf ${index}`));
const naive = new NaiveTree(leaves);
const node = ({ level, index }: Subtree) => `${level}/${index}`;
const nodes = new Map<string, Buffer>();
/** The nodes that a log stores: each complete one. */
const stored: HashOf = (subtrees) => Promise.resolve(subtrees.map((subtree) => nodes.get(node(subtree))!));

beforeAll(() => {
  const tree = CompactRange.of(0, []);
  for (const [index, leaf] of leaves.entries()) {
    nodes.set(`0/${index}`, logged(leaf));
    tree.append(logged(leaf), (level, at, hash) => nodes.set(`${level}/${at}`, hash));
  }
});

/** Returns the accepted claims. */
async function acceptedOf<Claim>(
  claims: Claim[],
  verify: (claim: Claim) => Promise<boolean>,
): Promise<Claim[]> {
  const results = await Promise.all(claims.map(verify));
  return claims.filter((_, at) => results[at]);
}

describe('verifyInclusion', () => {
  const position = fc
    .integer({ min: 1, max: MOST })
    .chain((size) => fc.tuple(fc.nat(size - 1), fc.constant(size)));

  it("accepts the log's proofs in random trees, and none with a flipped bit", async () => {
    const property = fc.asyncProperty(position, fc.nat(255), async ([index, size], bit) => {
      const proof = await inclusionProof(index, size, stored);
      const claim = {
        index,
        size,
        leafHash: await leafHash(`leaf ${index}`),
        proof,
        root: naive.root(0, size),
      };
      expect(await verifyInclusion(claim)).toBe(true);
      const wrong = [
        ...proof.map((hash, at) => ({ ...claim, proof: proof.with(at, flipped(hash, bit)) })),
        ...mutationsOf(proof, [claim.root]).map((changed) => ({ ...claim, proof: changed })),
        { ...claim, root: flipped(claim.root, bit) },
        { ...claim, leafHash: flipped(Buffer.from(claim.leafHash), bit) },
        ...[index - 1, index + 1, size, -1, NaN, index + 0.5].map((changed) => ({
          ...claim,
          index: changed,
        })),
        ...[0, index, -size, size + 0.5, Infinity].map((changed) => ({ ...claim, size: changed })),
      ];
      expect(await acceptedOf(wrong, verifyInclusion)).toEqual([]);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  it('accepts published examples', async () => {
    for (const claim of published.INCLUSIONS) expect(await verifyInclusion(claim)).toBe(true);
    const claim = {
      index: published.SUMDB_INDEX,
      size: 58_253_265,
      proof: published.SUMDB_PROOF,
      leafHash: await leafHash(published.SUMDB_LEAF),
      root: published.SUMDB_ROOT,
    };
    expect(await verifyInclusion(claim)).toBe(true);
    expect(await verifyInclusion({ ...claim, leafHash: await leafHash(`${published.SUMDB_LEAF} `) })).toBe(
      false,
    );
  });
});

describe('verifyConsistency', () => {
  const pair = fc
    .integer({ min: 1, max: MOST })
    .chain((to) => fc.tuple(fc.integer({ min: 1, max: to }), fc.constant(to)));

  it("accepts the log's proofs between random trees, and none with a flipped bit", async () => {
    const property = fc.asyncProperty(pair, fc.nat(255), async ([from, to], bit) => {
      const proof = await consistencyProof(from, to, stored);
      const claim = { from, to, fromRoot: naive.root(0, from), toRoot: naive.root(0, to), proof };
      expect(await verifyConsistency(claim)).toBe(true);
      const wrong = [
        ...proof.map((hash, at) => ({ ...claim, proof: proof.with(at, flipped(hash, bit)) })),
        ...mutationsOf(proof, [claim.fromRoot, claim.toRoot]).map((changed) => ({
          ...claim,
          proof: changed,
        })),
        { ...claim, fromRoot: flipped(claim.fromRoot, bit) },
        { ...claim, toRoot: flipped(claim.toRoot, bit) },
        ...[0, from - 1, to + 1, -1, NaN, from + 0.5].map((changed) => ({ ...claim, from: changed })),
        ...[0, from - 1, -to, to + 0.5, Infinity].map((changed) => ({ ...claim, to: changed })),
        ...(from < to ? [{ ...claim, fromRoot: claim.toRoot, toRoot: claim.fromRoot }] : []),
      ];
      expect(await acceptedOf(wrong, verifyConsistency)).toEqual([]);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  it('accepts published examples', async () => {
    for (const claim of published.CONSISTENCIES) {
      const toRoot = published.ROOTS[claim.to]!;
      expect(await verifyConsistency({ ...claim, toRoot })).toBe(true);
      expect(await verifyConsistency({ ...claim, toRoot, to: claim.to * 2 })).toBe(false);
    }
  });
});

it('verifies trees of more than 2^32 leaves', async () => {
  // With equal leaves, all subtrees of one level are equal, so a tree of any size can be computed.
  const hashes = Array.from({ length: 53 }).reduce<Buffer[]>(
    (all) => [...all, nodeHash(all.at(-1)!, all.at(-1)!)],
    [logged('same')],
  );
  const rootOf = (size: number) => foldSubtrees(subtreesOf(0, size).map(({ level }) => hashes[level]!));
  const hashOf: HashOf = (subtrees) => Promise.resolve(subtrees.map(({ level }) => hashes[level]!));
  const size = fc.integer({ min: 2 ** 32, max: Number.MAX_SAFE_INTEGER });
  const property = fc.asyncProperty(
    size,
    fc.double({ min: 0.001, max: 0.999, noNaN: true }),
    async (to, part) => {
      const from = Math.floor(part * to);
      const proof = await inclusionProof(from, to, hashOf);
      expect(
        await verifyInclusion({ index: from, size: to, leafHash: hashes[0]!, proof, root: rootOf(to) }),
      ).toBe(true);
      const claim = { from, to, fromRoot: rootOf(from), toRoot: rootOf(to) };
      expect(await verifyConsistency({ ...claim, proof: await consistencyProof(from, to, hashOf) })).toBe(
        true,
      );
    },
  );
  await fc.assert(property, { numRuns: 30 });
});
