import { Catch, ExceptionFilter, ArgumentsHost } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { FastifyReply } from 'fastify';
import { readJsonBodies } from '../../../src/http/validation/json-body';
import { QueryGuard, RequestValidationPipe } from '../../../src/http/validation/validation.pipe';
import { AccountController } from '../../../src/interface/account/account.controller';
import { CollectionsController } from '../../../src/interface/collections/collections.controller';
import { InfoController } from '../../../src/interface/info/info.controller';
import { PayoutsController } from '../../../src/interface/payouts/payouts.controller';
import { RedeemController } from '../../../src/interface/redeem/redeem.controller';
import { SendController } from '../../../src/interface/send/send.controller';
import { SubAccountsController } from '../../../src/interface/sub-accounts/sub-accounts.controller';
import { WalletsController } from '../../../src/interface/wallets/wallets.controller';
import { methodOf } from '../../../src/operations/catalogue/catalogue';
import { RunningConfig, loadConfig } from '../../../src/platform/config/config';
import { Problem } from '../../../src/platform/errors/problem';
import { ExampleRequest, ExpectedFault } from './interface';

/** Result of the rules for a request: the input of its handler, or its faults. */
export interface RuleResult {
  input?: unknown;
  faults?: { pointer: string; detail: string }[];
  total?: number;
}

type Headers = Record<string, string>;

export interface TestRules {
  /** Sends a body as JSON. */
  post(path: string, body: unknown): Promise<RuleResult>;
  /** Sends these bytes, as JSON unless `headers` override it. */
  postRaw(path: string, body: string | Buffer, headers?: Headers): Promise<RuleResult>;
  get(path: string): Promise<RuleResult>;
  /** Sends the valid request of an operation. */
  ask(asking: ExampleRequest): Promise<RuleResult>;
  close(): Promise<void>;
}

@Catch(Problem)
class FaultsFilter implements ExceptionFilter<Problem> {
  catch({ faults, faultsTotal }: Problem, host: ArgumentsHost): void {
    void host
      .switchToHttp()
      .getResponse<FastifyReply>()
      .send({ faults: faults.map(({ pointer, detail }) => ({ pointer, detail })), total: faultsTotal });
  }
}

/**
 * Starts the field rules of the interface in this process: body parser, controllers, query guard and pipe.
 * Without network, database and upstream, a request takes a millisecond.
 */
export async function startRules(): Promise<TestRules> {
  const module = await Test.createTestingModule({
    controllers: [
      AccountController,
      CollectionsController,
      InfoController,
      PayoutsController,
      RedeemController,
      SendController,
      SubAccountsController,
      WalletsController,
    ],
    providers: [
      { provide: APP_FILTER, useClass: FaultsFilter },
      { provide: APP_GUARD, useClass: QueryGuard },
      { provide: APP_PIPE, useFactory: () => new RequestValidationPipe(loadConfig({}) as RunningConfig) },
    ],
  })
    .useMocker(() => ({ run: (_call: unknown, input: unknown) => ({ input }) }))
    .compile();
  const app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), {
    bodyParser: false,
  });
  const server = app.getHttpAdapter().getInstance();
  readJsonBodies(server, loadConfig({}), () => Promise.resolve(() => undefined));
  server.addHook('onRequest', (request, _reply, done) => {
    request.call = { caller: {} } as typeof request.call; // handlers require a caller
    done();
  });
  await app.init();
  await server.ready();
  const ask = async (
    method: 'GET' | 'POST',
    path: string,
    payload?: string | Buffer,
    headers: Headers = {},
  ) => {
    const request = { method, url: `/api/v0.1${path}`, headers: { 'x-api-key': 'key', ...headers } };
    const response = await server.inject(payload === undefined ? request : { ...request, payload });
    return response.json<RuleResult>();
  };
  const rules: TestRules = {
    post: (path, body) => ask('POST', path, JSON.stringify(body), body === undefined ? {} : JSON_TYPE),
    postRaw: (path, body, headers = JSON_TYPE) => ask('POST', path, body, headers),
    get: (path) => ask('GET', path),
    ask: ({ operation, path, body }) =>
      methodOf(operation) === 'GET' ? rules.get(path) : rules.post(path, body),
    close: () => app.close(),
  };
  return rules;
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** Expects exactly these faults, in any order. */
export async function expectFaults(judging: Promise<RuleResult>, faults: ExpectedFault[]): Promise<void> {
  const judged = await judging;
  expect(judged.faults).toBeDefined();
  expect(judged.faults).toHaveLength(faults.length);
  expect(judged.faults).toEqual(
    expect.arrayContaining(
      faults.map(({ pointer, detail }) => ({ pointer, detail: expect.stringMatching(detail) })),
    ),
  );
}

/**
 * Expects a request without faults.
 * @returns the input of the handler.
 */
export async function expectAccepted(judging: Promise<RuleResult>): Promise<unknown> {
  const { input, ...rejection } = await judging;
  expect(rejection).toEqual({});
  return input;
}
