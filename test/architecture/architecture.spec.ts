import { PATH_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { getMetadataStorage } from 'class-validator';
import { join } from 'node:path';
import { ALLOW, SHOWS } from '../../src/access/auth/route-access';
import { OPERATION } from '../../src/gateway/operation.decorator';
import { OPERATIONS } from '../../src/operations/catalogue/catalogue';
import { mayBeLeftOut } from '../../src/http/validation/rules/rules';
import { codeFiles, findCycle, literalSpreads, sourceFiles } from '../support/examples/source';

const src = sourceFiles('src');
const product = src.filter(({ path }) => !path.endsWith('.spec.ts'));
const folderOf = (path: string) => FLOORS[floorOf(path)];

/** The areas of `src` and their folders, from top to bottom. A file imports from its own folder and folders below it. */
const HOUSE: [area: string, folders: string[]][] = [
  ['main.ts', []],
  ['cli', []],
  ['worker', []],
  ['app', ['start']],
  ['admin', ['overview', 'approvals', 'stops', 'clients', 'accounts', 'limits', 'sandbox-api']],
  ['credentials', ['ephemeral-keys', 'sign-in', 'openid']],
  [
    'reconciliation',
    [
      'report',
      'findings',
      'webhooks-in',
      'following',
      'in-doubt',
      'runs',
      'matching',
      'settling',
      'wallets',
      'sources',
    ],
  ],
  ['history', ['own-calls', 'export', 'search', 'story', 'shapes', 'access-log', 'records', 'retention', 'log']],
  ['interface', ['payouts', 'send', 'account', 'wallets', 'sub-accounts', 'info', 'collections', 'redeem']],
  ['gateway', ['preview', 'forwarding', 'screening', 'admission-control', 'upstream', 'may-pay']],
  ['journal', []],
  ['policy', []],
  ['http', ['streams', 'answers', 'shares', 'health', 'metrics', 'connections', 'validation']],
  ['access', ['auth', 'sessions', 'callers', 'tokens', 'governance', 'ephemeral', 'people', 'clients']],
  ['operations', []],
  ['recipients', []],
  [
    'platform',
    ['jobs', 'logging', 'database', 'fencing', 'storage', 'network', 'config', 'errors', 'schema', 'privacy', 'json'],
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

type Dto = new () => object;

interface Controller {
  name: string;
  prototype: Record<string, Handler['method']>;
}

interface Handler {
  where: string;
  method: (...args: unknown[]) => unknown;
  parameters: Dto[];
  bound: { kind: RouteParamtypes; index: number }[];
}

function handlers(): Handler[] {
  return product
    .filter(({ path }) => path.endsWith('.controller.ts'))
    .flatMap(({ path }) => Object.values(jest.requireActual<Record<string, unknown>>(join('..', '..', path))))
    .filter((value): value is Controller => typeof value === 'function' && Reflect.hasMetadata(PATH_METADATA, value))
    .flatMap((controller) =>
      Object.getOwnPropertyNames(controller.prototype)
        .filter((name) => name !== 'constructor' && Reflect.hasMetadata(PATH_METADATA, controller.prototype[name]!))
        .map((name) => ({
          where: `${controller.name}.${name}`,
          method: controller.prototype[name]!,
          parameters: Reflect.getMetadata('design:paramtypes', controller.prototype, name) as Dto[],
          bound: Object.entries(
            (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {}) as Record<string, { index: number }>,
          ).map(([key, { index }]) => ({ kind: Number(key.split(':')[0]), index })),
        })),
    );
}

describe('the architecture', () => {
  it('has a handler for each operation of the catalogue, and no other', () => {
    const handled = handlers().flatMap(({ method }) => (Reflect.getMetadata(OPERATION, method) as string) ?? []);
    expect(handled.sort()).toEqual([...Object.keys(OPERATIONS), 'GET /wallets/list'].sort()); // two methods, two handlers
  });

  it('states for each route who may call it', () => {
    const silent = handlers().filter(({ method }) => !(Reflect.getMetadata(ALLOW, method) as string[])?.length);
    expect(silent.map(({ where }) => where)).toEqual([]);
  });

  it('records reads on each route that shows the history to others', () => {
    const scopes = (method: object) => (Reflect.getMetadata(ALLOW, method) as string[] | undefined) ?? [];
    const unrecorded = handlers().filter(
      ({ method }) =>
        scopes(method).some((scope) => scope.startsWith('audit') || scope === 'approve' || scope === 'reconcile') &&
        !Reflect.hasMetadata(SHOWS, method),
    );
    expect(unrecorded.map(({ where }) => where)).toEqual([
      'AccountsController.listAccounts', // the configuration, and no call
      'OperationsController.listOperations', // the interface, and no call
      'StopsController.listStops', // what holds now, and no call
      'SessionController.signIn',
      'SessionController.readSession',
      'SessionController.signOut', // oneself
      'LogController.readCheckpoint',
      'LogController.readLogKey',
      'LogController.proveConsistency', // hashes, and no record
    ]);
  });

  it('validates each body and query with a class', () => {
    const rulesOf = (type: Dto) => getMetadataStorage().getTargetValidationMetadatas(type, '', true, false);
    const unvalidated = handlers().flatMap(({ where, parameters, bound }) =>
      bound
        .filter(({ kind }) => kind === RouteParamtypes.BODY || kind === RouteParamtypes.QUERY)
        .filter(({ index }) => !mayBeLeftOut(parameters[index]!) && rulesOf(parameters[index]!).length === 0)
        .map(() => where),
    );
    expect(unvalidated).toEqual([]);
    expect(handlers().flatMap(({ bound }) => bound).length).toBeGreaterThan(15); // it did look at something
  });

  it('imports only downwards', () => {
    const upwards = product.flatMap(({ path, imports }) =>
      imports
        .filter((target) => target.startsWith('src/') && floorOf(target) < floorOf(path))
        .map((target) => `${path} → ${target}`),
    );
    expect(upwards).toEqual([]);
  });

  it('has a floor for each area and folder', () => {
    const areas = [...new Set(product.map(({ path }) => path.replace('src/', '').split('/')[0]))];
    expect(areas.sort()).toEqual(HOUSE.map(([area]) => area).sort());
    const homeless = product.filter(({ path }) => {
      const [area = '', folder = ''] = path.replace('src/', '').split('/');
      const folders = HOUSE.find(([name]) => name === area)?.[1] ?? [];
      return folders.length > 0 && !folder.endsWith('.ts') && !folders.includes(folder);
    });
    expect(homeless.map(({ path }) => path)).toEqual([]);
  });

  it('shares no code between the sandbox and the rest', () => {
    const shared = product.flatMap(({ path, imports }) =>
      imports
        .filter((target) => target.startsWith('src/sandbox/') !== path.startsWith('src/sandbox/'))
        .filter((target) => target.startsWith('src/'))
        .map((target) => `${path} → ${target}`),
    );
    expect(shared).toEqual([]);
  });

  it("uses the provider's fields and references only in the adapter and the interface", () => {
    const words = /\b(?:chiRefs?|chi_ref|issueI[Dd]|issue_id|tnxID|valueInUSD|momoCode|countryToSend|svix-id)\b/;
    // The interface, its catalogue, its adapter and its simulation; and where a request of the interface is an example.
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

  it('has no cycle of imports', () => {
    const files = [...product, ...sourceFiles('console/src'), ...sourceFiles('packages/sdk/src')];
    expect(findCycle(files)).toBeUndefined();
    expect(files.find(({ path }) => path === 'console/src/app.tsx')?.imports).toContain('console/src/navigation.ts');
  });

  it('spreads no object or array literals, which only pack lines', () => {
    expect(codeFiles().flatMap(literalSpreads)).toEqual([]);
  });

  it('reads the history only on connections of readers', () => {
    const readers = product.filter(({ path }) =>
      /^src\/(history\/(search|records|story|export|shapes|access-log)|admin\/overview)\//.test(path),
    );
    const others = readers.filter(({ imports }) => imports.some((name) => name.endsWith('database/prisma.service')));
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  it('imports axios and undici only in gateway/upstream and platform/network', () => {
    const importers = product.filter(({ imports }) => imports.some((name) => name === 'axios' || name === 'undici'));
    const others = importers.filter(({ path }) => !/^src\/(gateway\/upstream|platform\/network)\//.test(path));
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  it('reveals each secret only where it is sent, used as a key, or checked', () => {
    const revealing = product.filter(({ text }) => text.includes('.reveal('));
    expect(revealing.map(({ path }) => path).sort()).toEqual([
      'src/admin/sandbox-api/control.service.ts',
      'src/app/start/demo-keys.ts', // for a hash that tells one upstream from another
      'src/app/start/sandbox-process.ts',
      'src/app/start/worker-process.ts',
      'src/credentials/openid/openid-provider.ts',
      'src/gateway/screening/screening.service.ts',
      'src/gateway/upstream/transport/credentials.ts',
      'src/history/log/log-key.ts',
      'src/platform/config/secrets/page-secrets.ts',
      'src/platform/network/egress.ts',
      'src/reconciliation/webhooks-in/events.controller.ts',
    ]);
  });

  it('writes records only in journal, seals only in history/log, and deletes only in history/retention', () => {
    const records =
      '(intent|outcome|refusal|decision|settlement|stop|stopLift|answerShape|access|accessEnd|activity|accessFilters|intentBody|outcomeBody)';
    const others =
      '_prisma|instance |process |request_window|person |ephemeral_key |page_session |used_token |pg_temp|upstream_(transaction|wallet)|statement_fault|public\\.(log_leaves|log_node|checkpoint) ';
    const writing = new RegExp(`INSERT INTO (?!${others})|\\.${records}\\.(create|update|upsert|delete)`);
    const writers = product.filter(({ path, text }) => !path.startsWith('src/sandbox/') && writing.test(text));
    expect([...new Set(writers.map(({ path }) => folderOf(path)))].sort()).toEqual(['history/retention', 'journal']);
  });

  it('derives the state of a call only in operations', () => {
    const deriving = product.filter(
      ({ path, text }) =>
        !path.startsWith('src/operations/') && /held_for IS|recorded_state\(|(?<!k\.)expires_at [<>]/.test(text),
    );
    expect(deriving.map(({ path }) => path)).toEqual([]);
  });

  it('has no file over 250 lines', () => {
    const long = [...src, ...sourceFiles('test')].filter(({ text }) => text.split('\n').length > 251);
    expect(long.map(({ path }) => path)).toEqual([]);
  });
});
