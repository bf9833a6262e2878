import { NestFactory } from '@nestjs/core';
import { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Logger } from 'nestjs-pino';
import { holderOf } from '../access/auth/call';
import { OriginsService, ownOriginReader } from '../access/auth/origins';
import { RequestWindowsService } from '../access/auth/rate-limit';
import { MAX_SEGMENT_LENGTH, readableUrl, receiveCalls } from '../access/auth/receive';
import { KeyCallersService } from '../access/callers/key-callers.service';
import { TokenCallersService } from '../access/callers/token-callers.service';
import { PersonsService } from '../access/people/persons.service';
import { PageSessionsService } from '../access/sessions/page-sessions.service';
import { SessionsService } from '../access/sessions/sessions.service';
import { UsedProofsService } from '../access/tokens/used-proofs.service';
import { DurabilityService } from '../continuity/fence/durability.service';
import { EpochService } from '../continuity/fence/epoch.service';
import { ProcessService } from '../continuity/fence/process.service';
import { HeartbeatService } from '../continuity/heartbeat/heartbeat.service';
import { SpaceService } from '../continuity/space/space.service';
import { serveSignIns } from '../credentials/sign-in/serve-sign-ins';
import { LoadShedderService } from '../gateway/admission-control/load-shedder.service';
import { ReplyAdapter } from '../gateway/forwarding/reply/reply';
import { CheckpointComparison } from '../history/log/sealing/checkpoint-file';
import { IndexService, addIndexHeader } from '../history/search/index.service';
import { writeLongLists } from '../http/answers/long-lists';
import { Acceptors } from '../http/connections/acceptors';
import { Arrivals } from '../http/connections/arrivals';
import { answerBrokenRequests } from '../http/connections/broken-requests';
import { endConnectionsWhenClosing, endSlowRequests } from '../http/connections/connections';
import { noticeLostReplies } from '../http/connections/handovers';
import { boundIncompleteRequests } from '../http/connections/incomplete-requests';
import { MetricsService } from '../http/metrics/metrics.service';
import { limitRequests } from '../http/quotas/limit-requests';
import { QuotasService } from '../http/quotas/quotas.service';
import { endStalledAnswers } from '../http/streams/stalled-answers';
import { checkWords } from '../http/validation/extra-fields';
import { readJsonBodies } from '../http/validation/json-body';
import { checkedSettings } from '../operations/checked-settings';
import { RunningConfig } from '../platform/config/config';
import { within } from '../platform/config/network/address-block';
import { PrismaService } from '../platform/database/pools/prisma.service';
import { SidePrisma } from '../platform/database/pools/side-prisma';
import { onceReachable } from '../platform/database/servers/once-reachable';
import { logRequests } from '../platform/logging/logging';
import { AppModule } from './app.module';
import { serveConsole } from './console-page';
import { serveDocs } from './serve-docs';

/** Time limit of a request: a body of one megabyte over a slow mobile connection. */
const REQUEST_TIMEOUT_MS = 60_000;

/** Time limit of a request's head over a slow mobile connection. Strangers can send endless heads. */
const HEAD_TIMEOUT_MS = 10_000;

/** Interval of Node's checks for slow requests, in ms. */
const CHECK_INTERVAL_MS = 1_000;

/** Enough for a file: a statement of 1 GiB at 300 kB per second. */
const FILE_TIMEOUT_MS = 3_600_000;

/** Extra time of a statement after its request has timed out: for a lock, and for a retry. */
const OVERDUE_MS = 1_000;

/**
 * Time limit of a statement or transaction that belongs to no payment. Most take milliseconds, a preview some
 * tenths of a second, and ten thousand decisions about findings a second.
 */
const SIDE_OVERDUE_MS = 10_000;

/** Creates the application, ready to listen. `npm start` and the tests share it. */
export async function createApp(configured: RunningConfig): Promise<NestFastifyApplication> {
  const settings = checkedSettings(configured);
  // here, because all fields are known once the modules are imported
  checkWords(settings.upstreamUnitName, settings.extraFieldsAllowed);
  const adapter = adapterFor(settings);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.with(settings), adapter, {
    bodyParser: false,
    logger: ['fatal', 'error', 'warn'], // messages about the assembly of the application are not needed
    abortOnError: false,
  });
  await startServices(app, settings);
  const server = adapter.getInstance();
  endConnectionsWhenClosing(server);
  server.decorate('acceptors', new Acceptors(server));
  endSlowRequests(server, REQUEST_TIMEOUT_MS);
  boundIncompleteRequests(server, within(settings.trustedProxies));
  endStalledAnswers(server);
  noticeLostReplies(server);
  const [metrics, shedder, quotas] = [
    app.get(MetricsService),
    app.get(LoadShedderService),
    app.get(QuotasService),
  ];
  writeLongLists(server, ({ call }) => quotas.paceOf(call));
  // Before the first asynchronous hook. Until Nest knows of a request, this would answer in its place.
  answerBrokenRequests(server, {
    logger: app.get(Logger),
    countProblem: (code) => metrics.problems.inc({ code }),
  });
  const arrivals = new Arrivals();
  await receiveCalls(server, {
    takeTurn: (begin) => arrivals.turn(begin),
    persons: app.get(PersonsService),
    callers: app.get(KeyCallersService),
    sessions: app.get(SessionsService),
    pageSessions: app.get(PageSessionsService),
    tokens: app.get(TokenCallersService),
    proofs: app.get(UsedProofsService),
    origins: app.get(OriginsService),
    windows: app.get(RequestWindowsService),
    ownOriginOf: ownOriginReader(settings),
    deadlineMs: settings.requestDeadlineMs,
    requireRoom: (call) => shedder.requireRoom(call),
  });
  addIndexHeader(server, app.get(IndexService, { strict: false }));
  limitRequests(server, quotas);
  readJsonBodies(server, settings, ({ call }) => quotas.turn('long_bodies', holderOf(call)));
  metrics.observe(server);
  logRequests(server, app.get(Logger));
  serveDocs(app, server, settings);
  await serveConsole(server, settings);
  await serveSignIns(app, server);
  await app.init();
  await server.ready();
  app.useLogger(app.get(Logger));
  return app;
}

/** Starts the services that need the database, and checks that it is safe to pay. */
async function startServices(
  app: NestFastifyApplication,
  { databaseUrl, requestDeadlineMs }: RunningConfig,
): Promise<void> {
  app.get(EpochService).load();
  const waiting = { url: databaseUrl, while: 'unavailable' } as const;
  await onceReachable(waiting, () => app.get(PrismaService).start());
  app.get(PrismaService).endOverdue(requestDeadlineMs + OVERDUE_MS);
  app.get(SidePrisma).endOverdue(SIDE_OVERDUE_MS);
  await onceReachable(waiting, () => app.get(CheckpointComparison).start());
  await onceReachable(waiting, () => app.get(ProcessService).start());
  await app.get(HeartbeatService).start();
  app.get(DurabilityService).requireSafe();
  await app.get(SpaceService).start();
}

/** Creates Fastify without the behavior of Node and Fastify that our own code replaces. */
function adapterFor(settings: RunningConfig): ReplyAdapter {
  const isTrusted = within(settings.trustedProxies);
  return new ReplyAdapter({
    skipMiddie: true, // no route uses Express middleware
    forceCloseConnections: 'idle',
    requestTimeout: FILE_TIMEOUT_MS, // endSlowRequests has a shorter limit for all other requests
    http: {
      headersTimeout: HEAD_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      requireHostHeader: false, // checked later, where the error can be explained
    },
    clientErrorHandler: () => undefined, // answerBrokenRequests answers
    return503OnClosing: false, // requests on open connections are still answered normally
    // From any other address, X-Forwarded-For is an unverified claim.
    trustProxy: (address: string | undefined) => isTrusted(address ?? ''),
    exposeHeadRoutes: false, // a HEAD would be forwarded and recorded as a GET
    // beyond this length, Fastify answers with its own error
    routerOptions: { maxParamLength: MAX_SEGMENT_LENGTH },
    rewriteUrl: readableUrl,
    schemaController: { compilersFactory: { buildValidator: noSchema, buildSerializer: noSchema } },
  });
}

/** Replaces Fastify's schema compilers, which are slow to load. Our own pipe validates bodies. */
function noSchema(): never {
  throw new Error('a route has a Fastify schema, but no schema compiler is loaded');
}
