import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sourceFiles } from '../support/examples/source';

const ROOT = join(__dirname, '..', '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const lines = (path: string) =>
  read(path)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));

/** Returns the oldest Node that a package supports. */
const oldestNode = (path: string) => /"node": ">=([\d.]+)"/.exec(read(path))?.[1] ?? '';

describe('the repository', () => {
  it('tests on the oldest Node that it supports', () => {
    const oldest = oldestNode('package.json');
    expect(read('.nvmrc')).toBe(`${oldest}\n`);
    expect(oldestNode('packages/sdk/package.json')).toBe(oldest);
    const pages = ['README.md', 'docs/operate/deploy.md', 'packages/sdk/README.md'];
    for (const page of pages) expect(read(page)).toContain(`Node ${oldest} or later`);
    expect(read('.github/workflows/ci.yml')).toMatch(
      /node-version-file: \.nvmrc\n(.*\n)* +- run: \.ci\/run\n/,
    );
  });

  it('is built on the packages that were chosen for good', () => {
    const chosen = [
      '@nestjs/core',
      '@nestjs/config',
      '@prisma/adapter-pg',
      'axios',
      'class-transformer',
      'class-validator',
    ];
    const texts = sourceFiles('src').map(({ text }) => text);
    const unused = chosen.filter((name) => !texts.some((text) => text.includes(` from '${name}`)));
    expect(unused).toEqual([]);
  });

  it('has one version of the product, the SDK and the API documents', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    const sdk = JSON.parse(read('packages/sdk/package.json')) as { version: string };
    const documents = ['openapi.json', 'openapi.staff.json'].map(
      (path) => (JSON.parse(read(path)) as { info: { version: string } }).info.version,
    );
    expect([sdk.version, ...documents]).toEqual([version, version, version]);
    expect(read('packages/sdk/README.md')).toContain(`payout-proxy-sdk-${version}.tgz`);
  });

  it('builds and runs the image on the same Node', () => {
    const images = [...read('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    expect(images).toHaveLength(2);
    expect(new Set(images).size).toBe(1);
  });

  it('has the paths that .github/CODEOWNERS names, each with a team', () => {
    const rows = lines('.github/CODEOWNERS').map((line) => line.split(/ +/));
    const wrong = rows.filter(
      ([path = '', ...teams]) =>
        teams.length === 0 ||
        teams.some((team) => !/^@payout-proxy\/[a-z-]+$/.test(team)) ||
        (path !== '*' && !existsSync(join(ROOT, path))),
    );
    expect(wrong).toEqual([]);
    expect(rows[0]?.[0]).toBe('*');
  });

  it('has the files that .gitattributes calls generated', () => {
    const named = lines('.gitattributes').filter((line) => line.includes('linguist-generated'));
    const paths = named.map((line) => line.split(' ')[0]!.replace(/\*.*$/, ''));
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});
