import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readMigrations } from '../../src/platform/database/migrations/migration-files';
import { PROXY_MIGRATIONS, SANDBOX_MIGRATIONS } from '../../src/platform/database/migrations/migrations';

/** Returns the changed or removed released migrations, and new ones that precede one of them. */
function misplaced(directory: string): string[] {
  const frozen = JSON.parse(readFileSync(join(directory, 'released.json'), 'utf8')) as Record<string, string>;
  const checksums = new Map(readMigrations(directory).map(({ name, checksum }) => [name, checksum]));
  const last = Object.keys(frozen).sort().at(-1) ?? '';
  const changed = Object.keys(frozen).filter((name) => checksums.get(name) !== frozen[name]);
  return [...changed, ...[...checksums.keys()].filter((name) => !(name in frozen) && name < last)];
}

describe('released migrations', () => {
  it.each([
    ['the proxy', PROXY_MIGRATIONS],
    ['the sandbox', SANDBOX_MIGRATIONS],
  ])('are frozen: %s', (_who, directory) => {
    const hint =
      'A released migration must not change, because databases have it. Restore the file, and put the ' +
      'change into a new migration. At a release, npm run build && npm run freeze adds its new ' +
      'migrations to released.json.';
    expect({ misplaced: misplaced(directory), hint }).toEqual({ misplaced: [], hint });
  });

  it('are reported if they change or disappear, or if another one precedes them', () => {
    const directory = mkdtempSync(join(tmpdir(), 'payout-proxy-frozen-'));
    cpSync(PROXY_MIGRATIONS, directory, { recursive: true });
    const { name, checksum } = readMigrations(directory).at(-1)!;
    const early = '20000101000000_early';
    writeFileSync(join(directory, 'released.json'), JSON.stringify({ [name]: checksum }));
    cpSync(join(directory, name), join(directory, early), { recursive: true });
    expect(misplaced(directory)).toContain(early);
    rmSync(join(directory, early), { recursive: true });
    expect(misplaced(directory)).not.toContain(name);
    appendFileSync(join(directory, name, 'migration.sql'), '-- changed');
    expect(misplaced(directory)).toContain(name);
    rmSync(join(directory, name), { recursive: true });
    expect(misplaced(directory)).toContain(name);
    rmSync(directory, { recursive: true });
  });
});
