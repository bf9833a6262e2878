import { sourceFiles } from '../support/examples/source';

const product = sourceFiles('src').filter(({ path }) => !path.endsWith('.spec.ts'));

/** Returns the files with such text, and how often each has it. */
function withText(text: RegExp): Record<string, number> {
  const counts = product.map(({ path, text: source }) => [path, source.match(text)?.length ?? 0] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

/**
 * SQL is `Prisma.sql`, composed of fragments. Its values are parameters. Only names of tables, columns and
 * settings are part of a text, where a statement takes no parameter for them.
 */
describe('SQL text', () => {
  it('escapes no values', () => {
    expect(withText(/\bescapeLiteral\b/g)).toEqual({
      // the name of a login in a DO block, which takes no parameters
      'src/platform/database/migrations/applied-migrations.ts': 1,
    });
  });

  it('interpolates no fragments', () => {
    expect(withText(/\bPrisma\.raw\(\s*(`[^`]*\$\{|['"][^'"]*['"]\s*\+)/g)).toEqual({
      'src/admin/overview/history.service.ts': 1, // names of columns
      'src/history/search/pages.ts': 1, // an operator
      'src/operations/lifecycle/lifecycle-sql.ts': 3, // names of tables, and states that an index names
      'src/operations/lifecycle/sums-sql.ts': 1, // names of columns
    });
  });

  it('interpolates only names of tables, columns and settings', () => {
    const interpolated = Object.keys(withText(/\.query(<[^(]*>)?\(\s*`[^`]*\$\{/g));
    const elsewhere = interpolated.filter(
      (path) => !/^src\/(history\/(log|retention)|platform\/database|continuity)\//.test(path),
    );
    expect(elsewhere.sort()).toEqual([
      'src/cli/audit/verify-log.ts', // the name of a snapshot
      'src/cli/database/replicate-search.ts', // names of tables
      'src/reconciliation/book/connection.ts', // a setting
      'src/worker/job-connection.ts', // names of a channel and a function
    ]);
  });
});
