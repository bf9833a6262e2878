import fc from 'fast-check';
import { runs } from '../../../test/support/examples/runs';
import { leafHash } from '../../../test/support/records/leaf-hash';
import { verifyConsistency, verifyInclusion } from '../../../test/support/records/verified-proofs';
import { consistencyProof, foldSubtrees, HashOf, inclusionProof, nodeHash, subtreesOf } from './merkle';

describe('a log of more than 2^32 leaves', () => {
  // With equal leaves, all subtrees of one level are equal. This allows trees of any size.
  const hashes = Array.from({ length: 53 }).reduce<Buffer[]>(
    (all) => [...all, nodeHash(all.at(-1)!, all.at(-1)!)],
    [leafHash('same')],
  );
  const rootOf = (size: number) => foldSubtrees(subtreesOf(0, size).map(({ level }) => hashes[level]!));
  const size = fc.integer({ min: 2 ** 32, max: Number.MAX_SAFE_INTEGER });

  it('has proofs, each with one query for hashes', async () => {
    let questions = 0;
    const hashOf: HashOf = (subtrees) => {
      questions++;
      expect(subtrees.every(({ level, index }) => Number.isSafeInteger(index * 2 ** level))).toBe(true);
      return Promise.resolve(subtrees.map(({ level }) => hashes[level]!));
    };
    const property = fc.asyncProperty(
      size,
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      async (to, part) => {
        const from = Math.floor(part * to);
        const proof = await inclusionProof(from, to, hashOf);
        expect(questions).toBe(1);
        expect(
          verifyInclusion({ index: from, size: to, leafHash: hashes[0]!, proof, root: rootOf(to) }),
        ).toBe(true);
        questions = 0;
        const claim = { from, to, fromRoot: rootOf(from), toRoot: rootOf(to) };
        expect(verifyConsistency({ ...claim, proof: await consistencyProof(from, to, hashOf) })).toBe(true);
        expect(questions).toBeLessThanOrEqual(1);
        questions = 0;
      },
    );
    await fc.assert(property, { numRuns: runs(100) });
  });
});
