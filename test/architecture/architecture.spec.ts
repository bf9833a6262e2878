import { join } from 'node:path';
import { PATH_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { getMetadataStorage } from 'class-validator';
import { ALLOW, SHOWS } from '../../src/access/auth/route-access';
import { OPERATION } from '../../src/gateway/operation.decorator';
import { mayBeLeftOut } from '../../src/http/validation/rules/rules';
import { OPERATIONS } from '../../src/operations/catalogue/catalogue';
import { codeFiles, literalSpreads, sourceFiles } from '../support/examples/source';

const src = sourceFiles('src');
const product = src.filter(({ path }) => !path.endsWith('.spec.ts'));

/** Returns the area and the folder of a file, such as `history/log`. */
const folderOf = (path: string) => path.split('/').slice(1, 3).join('/');

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
    .filter(
      (value): value is Controller =>
        typeof value === 'function' && Reflect.hasMetadata(PATH_METADATA, value),
    )
    .flatMap((controller) =>
      Object.getOwnPropertyNames(controller.prototype)
        .filter(
          (name) => name !== 'constructor' && Reflect.hasMetadata(PATH_METADATA, controller.prototype[name]!),
        )
        .map((name) => ({
          where: `${controller.name}.${name}`,
          method: controller.prototype[name]!,
          parameters: Reflect.getMetadata('design:paramtypes', controller.prototype, name) as Dto[],
          bound: Object.entries(
            (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {}) as Record<
              string,
              { index: number }
            >,
          ).map(([key, { index }]) => ({ kind: Number(key.split(':')[0]), index })),
        })),
    );
}

describe('the architecture', () => {
  it('has exactly one handler for each operation of the catalogue', () => {
    const handled = handlers().flatMap(
      ({ method }) => (Reflect.getMetadata(OPERATION, method) as string) ?? [],
    );
    // two methods, two handlers
    expect(handled.sort()).toEqual([...Object.keys(OPERATIONS), 'GET /wallets/list'].sort());
  });

  it('declares the access of each route', () => {
    const silent = handlers().filter(
      ({ method }) => !(Reflect.getMetadata(ALLOW, method) as string[])?.length,
    );
    expect(silent.map(({ where }) => where)).toEqual([]);
  });

  it('records reads on each route that shows the history to others', () => {
    const scopes = (method: object) => (Reflect.getMetadata(ALLOW, method) as string[] | undefined) ?? [];
    const unrecorded = handlers().filter(
      ({ method }) =>
        scopes(method).some(
          (scope) => scope.startsWith('audit') || scope === 'approve' || scope === 'reconcile',
        ) && !Reflect.hasMetadata(SHOWS, method),
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

  it('spreads no object or array literals', () => {
    expect(codeFiles().flatMap(literalSpreads)).toEqual([]);
  });

  it('reads the history only on reader connections', () => {
    const readers = product.filter(({ path }) =>
      /^src\/(history\/(search|records|timeline|export|shapes|access-log)|admin\/overview)\//.test(path),
    );
    const others = readers.filter(({ imports }) =>
      imports.some((name) => name.endsWith('database/pools/prisma.service')),
    );
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  it('imports axios and undici only in gateway/upstream and platform/network', () => {
    const importers = product.filter(({ imports }) =>
      imports.some((name) => name === 'axios' || name === 'undici'),
    );
    const others = importers.filter(
      ({ path }) => !/^src\/(gateway\/upstream|platform\/network)\//.test(path),
    );
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
      'src/gateway/upstream/transport/headers.ts',
      'src/history/log/log-key.ts',
      'src/platform/config/secrets/page-secrets.ts',
      'src/platform/network/egress.ts',
      'src/reconciliation/webhooks-in/events.controller.ts',
    ]);
  });

  it('writes records in journal, seals in history/log, and deletes in history/retention only', () => {
    const records =
      '(intent|outcome|refusal|decision|settlement|stop|stopLift|answerShape|access|accessEnd|activity|' +
      'accessFilters|intentBody|outcomeBody)';
    const others =
      '_prisma|instance |process |request_window|person |ephemeral_key |page_session |used_token ' +
      '|pg_temp|book_|upstream_(transaction|wallet)|statement_fault|public\\.(log_leaves|log_node|checkpoint) ';
    const writing = new RegExp(`INSERT INTO (?!${others})|\\.${records}\\.(create|update|upsert|delete)`);
    const writers = product.filter(
      ({ path, text }) => !path.startsWith('src/sandbox/') && writing.test(text),
    );
    const outside = writers.filter(({ path }) => !path.startsWith('src/journal/'));
    expect([...new Set(outside.map(({ path }) => folderOf(path)))]).toEqual(['history/retention']);
  });

  it('derives the state of a call only in operations', () => {
    const deriving = product.filter(
      ({ path, text }) =>
        !path.startsWith('src/operations/') &&
        /held_for IS|recorded_state\(|(?<!k\.)expires_at [<>]/.test(text),
    );
    expect(deriving.map(({ path }) => path)).toEqual([]);
  });
});
