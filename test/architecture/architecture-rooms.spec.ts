import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeFiles, findCycle, sourceFiles } from '../support/examples/source';

const ROOT = join(__dirname, '..', '..');

const src = sourceFiles('src');
const product = src.filter(({ path }) => !path.endsWith('.spec.ts'));

/**
 * The areas of `src` and their folders, from top to bottom. A file imports from its own folder and folders
 * below it.
 */
const HOUSE: [area: string, folders: string[]][] = [
  ['main.ts', []],
  ['cli', []],
  ['worker', []],
  ['app', ['start']],
  ['expiry', []],
  ['admin', ['overview', 'approvals', 'stops', 'fees', 'clients', 'accounts', 'limits', 'sandbox-api']],
  ['credentials', ['ephemeral-keys', 'sign-in', 'openid']],
  [
    'reconciliation',
    [
      'report',
      'findings',
      'attributions',
      'webhooks-in',
      'following',
      'in-doubt',
      'runs',
      'matching',
      'book',
      'wallets',
      'sources',
    ],
  ],
  [
    'history',
    ['own-calls', 'export', 'search', 'timeline', 'shapes', 'access-log', 'records', 'retention', 'log'],
  ],
  ['interface', ['payouts', 'send', 'account', 'wallets', 'sub-accounts', 'info', 'collections', 'redeem']],
  [
    'gateway',
    ['preview', 'queue', 'waiting', 'forwarding', 'screening', 'admission-control', 'upstream', 'may-pay'],
  ],
  [
    'journal',
    [
      'lookups',
      'recovery',
      'outcomes',
      'settlement',
      'queue',
      'decisions',
      'copies',
      'admission',
      'activity',
      'stops',
      'reconciliation',
      'records',
    ],
  ],
  ['policy', ['limits']],
  ['http', ['streams', 'answers', 'quotas', 'health', 'metrics', 'connections', 'validation']],
  ['access', ['auth', 'sessions', 'callers', 'tokens', 'dual-control', 'ephemeral', 'people', 'clients']],
  ['operations', ['lifecycle', 'items', 'catalogue']],
  ['recipients', []],
  ['continuity', ['fence', 'space', 'heartbeat', 'epoch', 'spool', 'backup']],
  [
    'platform',
    [
      'jobs',
      'logging',
      'database',
      'storage',
      'network',
      'config',
      'errors',
      'schema',
      'privacy',
      'json',
      'modules',
    ],
  ],
  ['sandbox', []],
];

/** The folders in their order; an area's own files, such as its module, come before its folders. */
const FLOORS = HOUSE.flatMap(([area, folders]) => [area, ...folders.map((folder) => `${area}/${folder}`)]);

function floorOf(path: string): number {
  const [area = '', folder = ''] = path.replace('src/', '').split('/');
  const inner = FLOORS.indexOf(`${area}/${folder}`);
  return inner < 0 ? FLOORS.indexOf(area) : inner;
}

describe('the rooms', () => {
  it('import only downwards', () => {
    const upwards = product.flatMap(({ path, imports }) =>
      imports
        .filter((target) => target.startsWith('src/') && floorOf(target) < floorOf(path))
        .map((target) => `${path} → ${target}`),
    );
    expect(upwards).toEqual([]);
  });

  it('rank each area and folder', () => {
    const areas = [...new Set(product.map(({ path }) => path.replace('src/', '').split('/')[0]))];
    expect(areas.sort()).toEqual(HOUSE.map(([area]) => area).sort());
    const homeless = product.filter(({ path }) => {
      const [area = '', folder = ''] = path.replace('src/', '').split('/');
      const folders = HOUSE.find(([name]) => name === area)?.[1] ?? [];
      return folders.length > 0 && !folder.endsWith('.ts') && !folders.includes(folder);
    });
    expect(homeless.map(({ path }) => path)).toEqual([]);
  });

  it('share no code between the sandbox and the rest', () => {
    const shared = product.flatMap(({ path, imports }) =>
      imports
        .filter((target) => target.startsWith('src/sandbox/') !== path.startsWith('src/sandbox/'))
        .filter((target) => target.startsWith('src/'))
        .map((target) => `${path} → ${target}`),
    );
    expect(shared).toEqual([]);
  });

  it('use the fields and references of the provider only in the adapter and the interface', () => {
    const words =
      /\b(?:chiRefs?|chi_ref|issueI[Dd]|issue_id|tnxID|valueInUSD|momoCode|countryToSend|svix-id)\b/;
    // The interface, its catalogue, its adapter and its simulation; and where a request of the interface is
    // an example.
    const folders = [
      'src/interface/',
      'src/gateway/upstream/',
      'src/operations/',
      'src/sandbox/',
      'src/admin/sandbox-api/',
      'src/app/start/banner.ts',
    ];
    const naming = product
      .filter(({ path }) => !folders.some((folder) => path.startsWith(folder)))
      .filter(({ text }) => words.test(text));
    expect(naming.map(({ path }) => path)).toEqual([]);
  });

  it('have no import cycle', () => {
    const files = [...product, ...sourceFiles('console/src'), ...sourceFiles('packages/sdk/src')];
    expect(findCycle(files)).toBeUndefined();
    expect(files.find(({ path }) => path === 'console/src/app.tsx')?.imports).toContain(
      'console/src/navigation.ts',
    );
  });

  it('have no file over 250 lines', () => {
    const long = [...src, ...sourceFiles('test')].filter(({ text }) => text.split('\n').length > 251);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  it('have no line over the width of the formatter that could be broken', () => {
    const { printWidth } = JSON.parse(readFileSync(join(ROOT, '.oxfmtrc.json'), 'utf8')) as {
      printWidth: number;
    };
    const long = codeFiles().flatMap((path) =>
      readFileSync(join(ROOT, path), 'utf8')
        .split('\n')
        .filter((line) => line.length > printWidth && !/\S{60}/.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
    expect(long).toEqual([]);
  });

  it('have at most 20 files in each folder', () => {
    const folders = codeFiles().map((path) => path.slice(0, path.lastIndexOf('/')));
    const sizes = [...new Set(folders)].map((name) => ({
      name,
      files: folders.filter((other) => other === name).length,
    }));
    expect(sizes.filter(({ files }) => files > 20)).toEqual([]);
    expect(sizes.length).toBeGreaterThan(100);
  });
});
