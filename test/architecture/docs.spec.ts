import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { describeRoutes } from '../../src/cli/api-document';
import { operatorCommands } from '../../src/cli/program';
import { referencePages } from '../../src/cli/reference';
import { Environment } from '../../src/platform/config/environment/environment';
import { VARIABLES } from '../../src/platform/config/environment/variables';
import { JOB_NAMES } from '../../src/platform/jobs/job';
import { filesBelow, sourceFiles } from '../support/examples/source';

const ROOT = resolve(__dirname, '..', '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const pages = filesBelow('.', '.md').map((path) => ({ path, text: read(path) }));

/** A page without its code, which holds brackets and hashes that mean something else. */
const proseOf = (text: string) => text.replace(/^```[^]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(text: string): string[] {
  const headings = text.replace(/^```[^]*?^```$/gm, '').match(/^#+ .*$/gm) ?? [];
  return headings.map((heading) =>
    heading
      .replace(/^#+ /, '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

const DEFAULTS = new Environment();

/** The default of a variable that is a number. */
function defaultOf(name: string): number | undefined {
  const value = DEFAULTS[name as keyof Environment];
  return typeof value === 'number' ? value : undefined;
}

/** What one of a unit is in the unit that a variable's name ends with. */
const UNITS: Record<string, Record<string, number>> = {
  MS: { ms: 1, second: 1_000, minute: 60_000 },
  SECONDS: { second: 1, minute: 60, hour: 3_600, day: 86_400 },
  MINUTES: { minute: 1, hour: 60 },
  DAYS: { day: 1, week: 7 },
  MB: { MB: 1 },
};

/** Reads a number of a page, such as `15 minutes`, in the unit of a variable (the default). */
function inUnitOf(variable: string, number: string, unit: string | undefined): number {
  const count = /^\d/.test(number) ? Number(number.replace(/[_,]/g, '')) : 1;
  const factor = unit === undefined ? 1 : UNITS[variable.split('_').at(-1)!]?.[unit.replace(/s$/, '')];
  return count * (factor ?? NaN);
}

describe('the documentation', () => {
  it('has a README under nine kilobytes', () => {
    expect(statSync(join(ROOT, 'README.md')).size).toBeLessThan(9_000);
  });

  it('states the size of each area within a tenth', () => {
    const stated = [...read('docs/internals/areas.md').matchAll(/^\| `(.+)` \| ([\d,]+) \|/gm)];
    const off = stated.filter(([, area, lines = '']) => {
      const files = sourceFiles(`src/${area}`).filter(({ path }) => !path.endsWith('.spec.ts'));
      const code = files
        .flatMap(({ text }) => text.split('\n'))
        .filter((line) => !/^\s*($|\/\/|\/?\*)/.test(line));
      return Math.abs(code.length / Number(lines.replace(',', '')) - 1) > 0.1;
    });
    expect(off.map(([row]) => row)).toEqual([]);
    const areas = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    expect(stated.map(([, area]) => area).sort()).toEqual(areas.map(({ name }) => name).sort());
  });

  it('names every area of src in README', () => {
    const areas = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    const missing = areas.filter(({ name }) => !read('README.md').includes(`\`${name}\``));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it('names every job in docs/operate/monitor.md', () => {
    const [row = ''] = /^\| `payout_proxy_job_held` .*$/m.exec(read('docs/operate/monitor.md')) ?? [];
    const names = [...row.matchAll(/`([a-z]+)`/g)].map(([, name = '']) => name);
    expect(names.sort()).toEqual([...JOB_NAMES].sort());
  });

  it('names only existing files and folders in CONTRIBUTING', () => {
    const named = [...read('CONTRIBUTING.md').matchAll(/`((?:src|test|console)\/[\w./-]+)`/g)];
    expect(named.map(([, path = '']) => path).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(named.length).toBeGreaterThan(20);
  });

  it('links only to existing files and headings', () => {
    const broken = pages.flatMap(({ path, text }) =>
      [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, link = '']) => link)
        .filter((link) => !/^[a-z]+:/.test(link))
        .filter((link) => {
          const [file = '', anchor] = link.split('#');
          const target = file === '' ? join(ROOT, path) : resolve(ROOT, dirname(path), file);
          if (!existsSync(target)) return true;
          return anchor !== undefined && !anchorsOf(readFileSync(target, 'utf8')).includes(anchor);
        })
        .map((link) => `${path}: ${link}`),
    );
    expect(broken).toEqual([]);
    expect(pages.length).toBeGreaterThan(40);
  });

  it('lists every page in docs/README.md or in the decision index', () => {
    const links = (path: string) =>
      [...read(path).matchAll(/\]\(([^)#\s]+)\)/g)].map(([, link = '']) => join(dirname(path), link));
    const listed = [
      ...links('docs/README.md'),
      ...links('docs/internals/decisions/README.md'),
      'docs/README.md',
    ];
    const unlisted = pages.filter(({ path }) => path.startsWith('docs/') && !listed.includes(path));
    expect(unlisted.map(({ path }) => path)).toEqual(['docs/screenshots/README.md']);
  });

  it('cites tests of both tiers for each promise', () => {
    const rowsOf = (path: string, head: string) => {
      const [, rows = ''] =
        read(path)
          .split(`| ${head} |`)[1]
          ?.split(/\n\n/)[0]
          ?.split(/\| ---.*\n/) ?? [];
      return rows.split('\n').map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));
    };
    const promises = rowsOf('docs/internals/tests.md', 'promise');
    const specs = new Set(
      readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).map((path) => basename(path)),
    );
    const missing = promises.flatMap(([promise, ...tiers]) =>
      ['.spec.ts', '.full.spec.ts'].flatMap((ending, tier) => {
        const names = [...(tiers[tier] ?? '').matchAll(/`([\w-]+)`/g)].map(([, name]) => `${name}${ending}`);
        return names.length === 0 ? [`${promise}: none`] : names.filter((name) => !specs.has(name));
      }),
    );
    expect(missing).toEqual([]);
    const named = promises.map(([promise]) => promise);
    const guarantees = rowsOf('README.md', 'guarantee').map(([guarantee]) => guarantee);
    expect(guarantees.length).toBeGreaterThan(5);
    expect(named).toEqual(expect.arrayContaining(guarantees));
  });

  it('has tables without padding', () => {
    const padded = pages.filter(({ text }) => /^\|.*(\S {2,}\||\| {2,}\S|----).*\|$/m.test(text));
    expect(padded.map(({ path }) => path)).toEqual([]);
  });

  it('has a README of at most fifteen lines in each area', () => {
    const long = pages.filter(
      ({ path, text }) => /^src\/[^/]+\/README\.md$/.test(path) && text.trimEnd().split('\n').length > 15,
    );
    // the sandbox is a product of its own
    expect(long.map(({ path }) => path)).toEqual(['src/sandbox/README.md']);
  });

  it('gives each decision a date, a status and a row in the index', () => {
    const withoutTargets = (text: string) => text.replace(/\]\([^)]*\)/g, ']');
    const index = withoutTargets(read('docs/internals/decisions/README.md'));
    const decisions = filesBelow('docs/internals/decisions', '.md').filter(
      (path) => !path.endsWith('README.md'),
    );
    for (const path of decisions) {
      const [, title, , line = ''] = /^# (.*)\n(\n)(.*)\n/.exec(read(path)) ?? [];
      const [, date, status] = /^Date: (\d{4}-\d{2}-\d{2})\. Status: (.+)\.$/.exec(line) ?? [];
      const number = path.split('/').at(-1)!.slice(0, 4);
      expect(index).toContain(`| [${number}] | ${title} | ${date} | ${withoutTargets(status!)} |`);
    }
  });

  it('has reference pages that match the code', async () => {
    for (const [path, text] of Object.entries(referencePages(operatorCommands(), await describeRoutes()))) {
      expect({ path, text: read(path) }).toEqual({ path, text }); // npm run docs writes them
    }
  });

  it('states the default of a variable as in the code', () => {
    const wrong = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/`([A-Z][A-Z0-9_]+)` \((\d[\d_,.]*|a|an|one)(?: (\w+))?\)/g)]
        .filter(([, name = '']) => defaultOf(name) !== undefined)
        .filter(([, name = '', number = '', unit]) => inUnitOf(name, number, unit) !== defaultOf(name))
        .map(([stated]) => `${path}: ${stated}`),
    );
    expect(wrong).toEqual([]);
  });

  it('has the defaults of the code in .env.example', () => {
    const stated = [...read('.env.example').matchAll(/^# ([A-Z_]+)=(\d+)$/gm)];
    const wrong = stated.filter(
      ([, name = '', value]) => defaultOf(name) !== undefined && Number(value) !== defaultOf(name),
    );
    expect(wrong.map(([line]) => line)).toEqual([]);
  });

  it('has every configuration variable in .env.example', () => {
    const names = [...read('.env.example').matchAll(/^# ([A-Z_]+)=/gm)].map(([, name]) => name);
    expect(Object.keys(VARIABLES).filter((name) => !names.includes(name))).toEqual([]);
    const others = names.filter((name = '') => !(name in VARIABLES)); // the sandbox reads these
    expect(others.filter((name = '') => !read('src/sandbox/README.md').includes(`\`${name}\``))).toEqual([]);
  });

  it('has only configuration variables in docker-compose.yml', () => {
    const [, proxy = ''] = /^ {2}proxy:\n((?: {4}.*\n|\n)+)/m.exec(read('docker-compose.yml')) ?? [];
    const names = [...proxy.matchAll(/^ {6}([A-Z_]+):/gm)].map(([, name = '']) => name);
    expect(names).toEqual([
      'DATABASE_URL',
      'PGPASSWORD',
      'DATABASE_ALLOW_UNSAFE',
      'MIGRATE_ON_START',
      'UPSTREAM_BASE_URL',
      'PUBLIC_URL',
      'UPSTREAM_API_KEY',
      'LOG_SIGNING_KEY',
      'LOG_RETIRED_KEYS',
    ]);
    expect(names.filter((name) => !(name in VARIABLES))).toEqual(['PGPASSWORD']); // the driver reads it
  });

  it('has every upstream page that comments cite', () => {
    const comments = ['src', 'test', 'bench', 'prisma'].flatMap((folder) =>
      ['.ts', '.mjs', '.sql'].flatMap((ending) => filesBelow(folder, ending)),
    );
    const lost = comments.filter((path) => /(?<![\w/-])interface\.md|upstream-observed/.test(read(path)));
    expect(lost.filter((path) => path !== 'test/architecture/docs.spec.ts')).toEqual([]);
  });
});
