import { sourceFiles } from '../support/examples/source';

/**
 * V8 keeps shapes (its maps) in the old generation. While they are there, everything that they refer to
 * outlives the collections of the young generation: it is copied twice, and fills the old one. See
 * docs/internals/decisions/performance/0042-payments-beside-other-users.md.
 */
describe('the architecture of memory', () => {
  const product = sourceFiles('src').filter(
    ({ path }) => !/^src\/sandbox\/|\/generated\/|\.spec\.ts$/.test(path),
  );
  const filesWith = (pattern: RegExp) =>
    product.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

  it('nests no generators, because each has a shape of its own', () => {
    expect(filesWith(/^[ \t]+(async )?function\*|[=(] ?(async )?function\*/m)).toEqual([]);
  });

  it('captures no stack trace for each query', () => {
    const clients = filesWith(/new PrismaClient\(|extends PrismaClient\b/);
    expect(clients).toEqual([
      'src/platform/database/pools/prisma.service.ts',
      'src/platform/database/pools/reader-prisma.ts',
    ]);
    expect(filesWith(/\berrorFormat: ERROR_FORMAT\b/)).toEqual(clients);
  });
});
