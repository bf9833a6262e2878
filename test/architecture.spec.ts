import { PATH_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { getMetadataStorage } from 'class-validator';
import { join } from 'node:path';
import { ALLOW } from '../src/access/auth/allow';
import { SHOWS } from '../src/access/auth/shows';
import { OPERATION } from '../src/gateway/forwarding/operation.decorator';
import { OPERATIONS } from '../src/operations/operations';
import { mayBeLeftOut } from '../src/http/validation/nothing.dto';
import { findCycle, sourceFiles } from './support/source';

const src = sourceFiles('src');
const product = src.filter(({ path }) => !path.endsWith('.spec.ts'));
const folderOf = (path: string) => /^src\/([^/]+)\//.exec(path)?.[1];

/** Which folders of src a folder may import from: one way, from the resources down to the database. */
const MAY_IMPORT: Record<string, string[]> = {
  config: [],
  database: ['config'],
  errors: [],
  clients: ['config', 'database', 'privacy'],
  auth: ['clients', 'config', 'database', 'errors', 'privacy'],
  privacy: [],
  validation: ['config', 'errors', 'privacy'],
  policy: ['clients', 'database', 'errors'],
  journal: ['clients', 'config', 'database', 'policy', 'privacy'],
  upstream: ['config', 'metrics'],
  forwarding: [
    'auth',
    'clients',
    'config',
    'database',
    'errors',
    'journal',
    'metrics',
    'policy',
    'upstream',
    'validation',
  ],
  approvals: [
    'audit',
    'auth',
    'database',
    'errors',
    'forwarding',
    'journal',
    'limits',
    'metrics',
    'policy',
    'validation',
  ],
  stops: ['auth', 'database', 'errors', 'forwarding', 'journal', 'validation'],
  administration: ['auth', 'clients', 'errors', 'forwarding', 'limits', 'policy', 'validation'],
  limits: ['auth', 'errors', 'policy'],
  send: ['auth', 'forwarding', 'validation'],
  payouts: ['auth', 'forwarding', 'send', 'validation'],
  account: ['auth', 'forwarding', 'validation'],
  wallets: ['auth', 'forwarding', 'validation'],
  'sub-accounts': ['auth', 'forwarding', 'validation'],
  info: ['auth', 'forwarding', 'validation'],
  collections: ['auth', 'forwarding', 'validation'],
  redeem: ['auth', 'forwarding', 'validation'],
  audit: ['auth', 'clients', 'config', 'database', 'errors', 'journal', 'privacy', 'validation'],
  calls: ['audit', 'auth', 'database', 'errors', 'journal', 'validation'],
  reconciliation: [
    'audit',
    'auth',
    'clients',
    'config',
    'database',
    'errors',
    'forwarding',
    'journal',
    'metrics',
    'privacy',
    'streams',
    'upstream',
    'validation',
  ],
  console: ['auth', 'clients', 'config', 'errors'],
  'sandbox-desk': ['auth', 'clients', 'config', 'errors', 'forwarding', 'validation'],
  overview: [
    'audit',
    'auth',
    'clients',
    'database',
    'errors',
    'limits',
    'policy',
    'reconciliation',
    'streams',
    'upstream',
    'validation',
  ],
  streams: ['auth', 'errors'],
  health: ['auth', 'database', 'errors'],
  logging: [],
  metrics: ['auth'],
  transparency: ['auth', 'config', 'database', 'errors', 'metrics', 'validation'],
  start: ['clients', 'config', 'database', 'transparency'],
  retention: ['clients', 'database', 'privacy', 'transparency', 'validation'],
  cli: [
    'approvals',
    'audit',
    'clients',
    'config',
    'database',
    'forwarding',
    'journal',
    'privacy',
    'reconciliation',
    'retention',
    'start',
    'stops',
    'transparency',
    'validation',
  ],
  sandbox: [],
};

interface Handler {
  where: string;
  method: (...args: unknown[]) => unknown;
  parameters: unknown[];
  bound: { kind: RouteParamtypes; index: number }[];
}

function handlers(): Handler[] {
  return product
    .filter(({ path }) => path.endsWith('.controller.ts'))
    .flatMap(({ path }) => Object.values(jest.requireActual<Record<string, any>>(join('..', path))))
    .filter((value) => typeof value === 'function' && Reflect.hasMetadata(PATH_METADATA, value))
    .flatMap((controller) =>
      Object.getOwnPropertyNames(controller.prototype)
        .filter((name) => name !== 'constructor' && Reflect.hasMetadata(PATH_METADATA, controller.prototype[name]))
        .map((name) => ({
          where: `${controller.name}.${name}`,
          method: controller.prototype[name],
          parameters: Reflect.getMetadata('design:paramtypes', controller.prototype, name) as unknown[],
          bound: Object.entries<{ index: number }>(
            Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {},
          ).map(([key, { index }]) => ({ kind: Number(key.split(':')[0]), index })),
        })),
    );
}

describe('the architecture', () => {
  it('has a handler for each operation of the table, and no other', () => {
    const handled = handlers().flatMap(({ method }) => (Reflect.getMetadata(OPERATION, method) as string) ?? []);
    // The one operation that the interface's text gives two methods has two handlers.
    expect(handled.sort()).toEqual([...Object.keys(OPERATIONS), 'GET /wallets/list'].sort());
  });

  it('says of each route who may call it', () => {
    const silent = handlers().filter(({ method }) => !(Reflect.getMetadata(ALLOW, method) as string[])?.length);
    expect(silent.map(({ where }) => where)).toEqual([]);
  });

  it('records who reads, on each route that shows the history to somebody else than who made it', () => {
    const scopes = (method: object) => (Reflect.getMetadata(ALLOW, method) as string[] | undefined) ?? [];
    const unrecorded = handlers().filter(
      ({ method }) =>
        scopes(method).some((scope) => scope.startsWith('audit') || scope === 'approve' || scope === 'reconcile') &&
        !Reflect.hasMetadata(SHOWS, method),
    );
    expect(unrecorded.map(({ where }) => where)).toEqual([
      'OperationsController.list', // the interface, and no call
      ...['SessionController.signIn', 'SessionController.current', 'SessionController.signOut'], // oneself
      'StopsController.list', // what holds now, and no call
      ...['LogController.checkpoint', 'LogController.key', 'LogController.consistency'], // hashes, and no record
    ]);
  });

  it('validates each body and query with a class', () => {
    const rulesOf = (type: any) => getMetadataStorage().getTargetValidationMetadatas(type, '', true, false);
    const unvalidated = handlers().flatMap(({ where, parameters, bound }) =>
      bound
        .filter(({ kind }) => kind === RouteParamtypes.BODY || kind === RouteParamtypes.QUERY)
        .filter(({ index }) => !mayBeLeftOut(parameters[index] as any) && rulesOf(parameters[index]).length === 0)
        .map(() => where),
    );
    expect(unvalidated).toEqual([]);
    expect(handlers().flatMap(({ bound }) => bound).length).toBeGreaterThan(15); // it did look at something
  });

  it('imports one way', () => {
    const wrong = product.flatMap(({ path, imports }) => {
      const from = folderOf(path);
      if (from === undefined) return []; // main.ts, app.ts … put it all together
      return imports
        .filter((target) => target.startsWith('src/'))
        .filter((target) => folderOf(target) !== from && !MAY_IMPORT[from]?.includes(folderOf(target) ?? ''))
        .filter((target) => !(from === 'cli' && folderOf(target) === undefined)) // `openapi` describes the whole
        .map((target) => `${path} → ${target}`);
    });
    expect(wrong).toEqual([]);
    expect(Object.keys(MAY_IMPORT).sort()).toEqual(
      [...new Set(product.flatMap(({ path }) => folderOf(path) ?? []))].sort(),
    );
  });

  it('has no cycle of imports', () => {
    expect(findCycle(product)).toBeUndefined();
  });

  it('reads the history on the connections of readers only', () => {
    const readers = product.filter(({ path }) => /^src\/(audit|overview)\//.test(path));
    const others = readers.filter(({ imports }) => imports.some((name) => name.endsWith('database/prisma.service')));
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  it('imports axios and undici in upstream/ only', () => {
    const importers = product.filter(({ imports }) => imports.some((name) => name === 'axios' || name === 'undici'));
    expect([...new Set(importers.map(({ path }) => folderOf(path)))]).toEqual(['upstream']);
  });

  it("reveals the upstream's key where it is sent and where the sandbox is told it, the log's where it becomes a signer, the events' where they are checked, the sandbox's control where it is controlled", () => {
    const revealing = product.filter(({ text }) => text.includes('.reveal('));
    expect(revealing.map(({ path }) => path).sort()).toEqual([
      'src/reconciliation/webhooks-in/signed-events.service.ts',
      'src/admin/sandbox-api/control.service.ts',
      'src/app/start/demo-keys.ts', // for a hash that tells one upstream from another
      'src/app/start/sandbox-process.ts',
      'src/history/log/log-key.ts',
      'src/gateway/upstream/upstream.service.ts',
    ]);
  });

  it('writes records in journal/ only, seals in transparency/; retention/ records what it takes out, and moves what it keeps', () => {
    const records =
      '(intent|intentItem|outcome|outcomeItem|refusal|decision|resolution|stop|stopLift|answerShape|access|accessEnd|activity|accessFilters|intentBody|outcomeBody|itemRecipient)';
    const others =
      '_prisma|request_window|pg_temp|upstream_(transaction|wallet)|statement_fault|public\\.(log_leaf|log_node|checkpoint) ';
    const writing = new RegExp(`INSERT INTO (?!${others})|\\.${records}\\.(create|update|upsert|delete)`);
    const writers = product.filter(({ path, text }) => folderOf(path) !== 'sandbox' && writing.test(text));
    expect([...new Set(writers.map(({ path }) => folderOf(path)))]).toEqual(['journal', 'retention']);
  });

  it('has no file over 250 lines', () => {
    const long = [...src, ...sourceFiles('test')].filter(({ text }) => text.split('\n').length > 251);
    expect(long.map(({ path }) => path)).toEqual([]);
  });
});
