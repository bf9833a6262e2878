import { NestFactory } from '@nestjs/core';
import { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Logger } from 'nestjs-pino';
import { AppModule } from './app.module';
import { answerBrokenRequests } from '../http/connections/broken-requests';
import { CallersService } from '../access/auth/callers.service';
import { OriginsService } from '../access/auth/origins';
import { RequestWindowsService } from '../access/auth/rate-limit';
import { MAX_SEGMENT_LENGTH, readableUrl, receiveCalls } from '../access/auth/receive';
import { SessionsService } from '../access/auth/sessions.service';
import { within } from '../platform/config/address-block';
import { RunningConfig } from '../platform/config/config';
import { endConnectionsWhenClosing, endSlowRequests } from '../http/connections/connections';
import { serveConsole } from './console-page';
import { PrismaService } from '../platform/database/prisma.service';
import { ProcessService } from '../platform/database/process.service';
import { deadlinesByOperation } from '../operations/deadlines';
import { ReplyAdapter } from '../gateway/forwarding/reply-adapter';
import { logRequests } from '../platform/logging/logging';
import { MetricsService } from '../http/metrics/metrics.service';
import { serveDocs } from './openapi';
import { endStalledAnswers } from '../http/streams/stalled';
import { checkWords } from '../http/validation/extra-fields';
import { readJsonBodies } from '../http/validation/json-body';

/** For a body to come in: a megabyte at the pace of an old phone. One that never ends must not hold a place. */
const REQUEST_TIMEOUT_MS = 60_000;

/** For a file: a statement of 1 GiB, at 300 kB a second. */
const FILE_TIMEOUT_MS = 3_600_000;

/** Creates the application, ready to listen. `npm start` and the tests share it. */
export async function createApp(configured: RunningConfig): Promise<NestFastifyApplication> {
  const settings = { ...configured, upstreamTimeouts: deadlinesByOperation(configured.upstreamTimeouts) };
  checkWords(settings.upstreamUnitName, settings.extraFieldsAllowed); // here, because every field is known once the modules are imported
  const isTrusted = within(settings.trustedProxies);
  const adapter = new ReplyAdapter({
    skipMiddie: true, // nothing here is a middleware of Express
    forceCloseConnections: 'idle',
    requestTimeout: FILE_TIMEOUT_MS, // of all others, endSlowRequests has its own
    http: { headersTimeout: REQUEST_TIMEOUT_MS, requireHostHeader: false }, // it is asked for where it can be explained
    clientErrorHandler: () => undefined, // answerBrokenRequests answers
    return503OnClosing: false, // what still comes in on an open connection is answered as always
    // Only these say whose request they pass on; from anybody else, X-Forwarded-For is a claim.
    trustProxy: (address: string | undefined) => isTrusted(address ?? ''),
    exposeHeadRoutes: false, // a HEAD would be forwarded, and recorded, as a GET
    routerOptions: { maxParamLength: MAX_SEGMENT_LENGTH }, // past it Fastify answers in words of its own
    rewriteUrl: readableUrl,
    schemaController: { compilersFactory: { buildValidator: noSchema, buildSerializer: noSchema } },
  });
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.with(settings), adapter, {
    bodyParser: false,
    logger: ['fatal', 'error', 'warn'], // of its assembly, nothing else is news
    abortOnError: false,
  });
  await app.get(PrismaService).start();
  await app.get(ProcessService).start();

  const server = adapter.getInstance();
  endConnectionsWhenClosing(server);
  endSlowRequests(server, REQUEST_TIMEOUT_MS);
  endStalledAnswers(server);
  const metrics = app.get(MetricsService);
  // Before the first hook that takes its time: until it knows of a request, it would answer in its place.
  answerBrokenRequests(server, { logger: app.get(Logger), countProblem: (code) => metrics.countProblem(code) });
  await receiveCalls(server, {
    callers: app.get(CallersService),
    sessions: app.get(SessionsService),
    origins: app.get(OriginsService),
    windows: app.get(RequestWindowsService),
  });
  readJsonBodies(server, settings.maxBodyBytes);
  metrics.observe(server);
  logRequests(server, app.get(Logger));
  serveDocs(app, settings);
  await serveConsole(server, settings);
  await app.init();
  await server.ready();
  app.useLogger(app.get(Logger));
  return app;
}

/** Bodies are checked by our own pipe. Without this, Fastify would load its compilers of schemas at every start, unused. */
function noSchema(): never {
  throw new Error('a route has a Fastify schema, but no schema compiler is loaded');
}
