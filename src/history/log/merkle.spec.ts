import { hash } from 'node:crypto';
import { leafHash } from '../../../test/support/records/leaf-hash';
import { NaiveTree } from '../../../test/support/records/naive-tree';
import { CompactRange, EMPTY_ROOT, foldSubtrees, nodeHash, subtreesOf } from './merkle';

/** Leaves and roots of the test vectors of RFC 6962: transparency-dev/merkle, rfc6962 and proof. */
const LEAVES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map((hex) => Buffer.from(hex, 'hex'));
const ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
const MOST = 64;
const many = Array.from({ length: MOST }, (_, index) => Buffer.from(`leaf ${index}`));
const naive = new NaiveTree(many);

function treeOf(leaves: Buffer[]): CompactRange {
  const tree = CompactRange.of(0, []);
  leaves.forEach((leaf) => tree.append(leafHash(leaf)));
  return tree;
}

describe('the hashes', () => {
  it('equal the published hashes', () => {
    const leaf = leafHash(Buffer.of(0));
    expect(leaf.toString('hex')).toBe('96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7');
    expect(nodeHash(leafHash(''), leaf).toString('hex')).toBe(ROOTS[2]);
    expect(EMPTY_ROOT.toString('hex')).toBe(ROOTS[0]);
  });

  it('hash a leaf as UTF-8', () => {
    const bytes = Buffer.concat([Buffer.of(0), Buffer.from('zażółć 😂 \0')]);
    expect(leafHash('zażółć 😂 \0').toString('hex')).toBe(hash('sha256', bytes, 'hex'));
  });

  it('are independent of earlier hashes, and reject values that are not hashes', () => {
    const [one, other] = [leafHash('one'), leafHash('other')];
    const before = nodeHash(one, other);
    expect(nodeHash(other, one)).not.toEqual(before);
    expect(nodeHash(one, other)).toEqual(before);
    expect(() => nodeHash(one, other.subarray(1))).toThrow('32 bytes');
    expect(() => nodeHash(Buffer.alloc(33), other)).toThrow('32 bytes');
  });
});

describe('CompactRange', () => {
  it.each(ROOTS.map((root, size) => [size, root]))('has the published root over %i leaves', (size, root) => {
    expect(treeOf(LEAVES.slice(0, size)).root().toString('hex')).toBe(root);
  });

  it('has the defined root and subtree hashes at every size', () => {
    const tree = CompactRange.of(0, []);
    for (const [index, leaf] of many.entries()) {
      tree.append(leafHash(leaf));
      expect(tree.size).toBe(index + 1);
      expect(tree.root()).toEqual(naive.root(0, tree.size));
      expect(tree.hashes).toEqual(
        subtreesOf(0, tree.size).map(({ level, index: at }) =>
          naive.root(at * 2 ** level, (at + 1) * 2 ** level),
        ),
      );
    }
  });

  it('continues from its hashes alone', () => {
    for (let size = 0; size < MOST; size++) {
      const stopped = treeOf(many.slice(0, size));
      const tree = CompactRange.of(stopped.size, stopped.hashes);
      many.slice(size).forEach((leaf) => tree.append(leafHash(leaf)));
      expect([tree.size, tree.root()]).toEqual([MOST, naive.root(0, MOST)]);
    }
  });

  it('reports each completed subtree once, the lowest first', () => {
    const told: string[] = [];
    const tree = CompactRange.of(0, []);
    many.slice(0, 8).forEach((leaf) =>
      tree.append(leafHash(leaf), (level, index, hash) => {
        told.push(`${level}/${index}`);
        expect(hash).toEqual(naive.root(index * 2 ** level, (index + 1) * 2 ** level));
      }),
    );
    expect(told).toEqual(['1/0', '1/1', '2/0', '1/2', '1/3', '2/1', '3/0']);
  });

  it('counts beyond 32 bits', () => {
    const size = 2 ** 40 - 1;
    const told: string[] = [];
    const tree = CompactRange.of(size, Array<Buffer>(40).fill(leafHash('')));
    tree.append(leafHash(''), (level, index) => told.push(`${level}/${index}`));
    expect([tree.size, tree.hashes.length, told.at(-1)]).toEqual([2 ** 40, 1, '40/0']);
    expect(told[0]).toBe(`1/${2 ** 39 - 1}`);
  });

  it('rejects hashes that cannot be the right edge of such a tree', () => {
    const hash = leafHash('');
    for (const [size, hashes] of [
      [3, [hash]],
      [2, [hash, hash]],
      [0, [hash]],
      [1, []],
      [1, [hash.subarray(1)]],
      [-1, [hash]],
      [1.5, [hash]],
      [NaN, []],
    ] as const) {
      expect(() => CompactRange.of(size, hashes)).toThrow('right edge');
    }
    expect(() => CompactRange.of(0, []).append(hash.subarray(1))).toThrow('32 bytes');
  });

  it('copies its initial hashes', () => {
    const given = [...treeOf(many.slice(0, 7)).hashes];
    CompactRange.of(7, given).append(leafHash(''));
    expect(given).toHaveLength(3);
  });
});

describe('foldSubtrees', () => {
  it('returns the hash of each range that a proof may need', () => {
    for (let width = 1; width <= 32; width *= 2) {
      for (let to = width + 1; to <= Math.min(2 * width, MOST); to++) {
        const parts = subtreesOf(width, to).map(({ level, index }) =>
          naive.root(index * 2 ** level, (index + 1) * 2 ** level),
        );
        expect(foldSubtrees(parts)).toEqual(naive.root(width, to));
      }
    }
  });
});
