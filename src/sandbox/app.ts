import Fastify, { FastifyInstance } from 'fastify';
import { Arrivals } from './arrivals/arrivals';
import { PREFIX, receiveUnreadable } from './arrivals/receive';
import { recordProcessed } from './arrivals/record-processed';
import { defaultBehaviour } from './behaviour/behaviour';
import { patchBehaviour, showBehaviour } from './behaviour/behaviour-patch';
import { resetData, seed } from './behaviour/seed';
import { DEFAULT_CONTROL_KEY, DEFAULT_UNIT_NAME, Settings, StartFailure } from './behaviour/settings';
import { startSweeper } from './behaviour/sweeper';
import { CONTROL_PREFIX, controlInterface, Controls } from './control/control';
import { connectDatabase, Database } from './database';
import { Events } from './events/events';
import { Faults } from './faults/faults';
import { Connections } from './http/connections';
import { answerClientError, answerFault, answerUnknownOperation } from './http/envelope';
import { operations } from './http/routes';
import { UnitName } from './http/unit-name';
import { paymentPage } from './payments/page';
import { Payouts } from './payouts/carry-out';
import { ReadWriteLock } from './read-write-lock';
import { redeemPage } from './redeem/page';
import type { Service } from './service';
import { Timers } from './timers';

const HOST = '127.0.0.1';
const BODY_LIMIT_BYTES = 2 * 1024 * 1024; // A batch of 1,000 items has about 200 KiB.

export interface Sandbox {
  /** The address before /api/v0.1, without a trailing slash. */
  url: string;
  /** Accepts no new requests, answers those in flight, and disconnects from the database. */
  close(): Promise<void>;
}

/**
 * Seeds the database and listens.
 * @throws {@link StartFailure} with the reason, without keys and connection strings.
 */
export async function createSandbox(settings: Settings): Promise<Sandbox> {
  const database = await connectDatabase(settings.databaseUrl);
  const service = newService(settings, database);
  const disconnect = async () => {
    await service.timers.idle();
    await service.events.stop();
    await service.arrivals.close();
    await database.$disconnect();
  };
  try {
    await seed(database, settings.apiKey);
    const server = buildServer(service, controlsOf(service, settings));
    const url = await listen(server, settings.port);
    const sweeper = startSweeper(database, service.behaviour);
    await service.events.start();
    return {
      url,
      close: async () => {
        await server.close();
        await sweeper.stop();
        await disconnect();
      },
    };
  } catch (error) {
    await disconnect();
    throw error;
  }
}

function newService(
  { behaviour = defaultBehaviour(), databaseUrl, unitName }: Settings,
  database: Database,
): Service {
  const arrivals = new Arrivals(database, databaseUrl);
  return {
    database,
    behaviour,
    unit: new UnitName(unitName ?? DEFAULT_UNIT_NAME),
    arrivals,
    payouts: new Payouts(database, behaviour, (work, processed) =>
      recordProcessed(arrivals, work, processed),
    ),
    faults: new Faults(),
    events: new Events(database, behaviour),
    lock: new ReadWriteLock(),
    timers: new Timers(),
    connections: new Connections(),
    operations: new Set(),
  };
}

function controlsOf(service: Service, { apiKey, controlKey }: Settings): Controls {
  const { arrivals, behaviour, database, events, faults, lock } = service;
  const start = showBehaviour(behaviour);
  return {
    controlKey: controlKey ?? DEFAULT_CONTROL_KEY,
    patchSettings: async (patch) => {
      patchBehaviour(behaviour, patch);
      await events.listen();
    },
    reset: () =>
      lock.close(async () => {
        await events.stop(); // Otherwise pending events would be sent after the reset.
        faults.clear();
        patchBehaviour(behaviour, start);
        try {
          await arrivals.clear();
          await resetData(database, apiKey);
          await events.clear();
        } finally {
          await events.start();
        }
      }),
  };
}

function buildServer(service: Service, controls: Controls): FastifyInstance {
  const server = Fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    exposeHeadRoutes: false, // The interface has no HEAD, and a HEAD must not bypass a fault of its GET.
    return503OnClosing: false, // Requests in flight are answered normally during the shutdown.
    schemaController: { compilersFactory: { buildValidator: noSchema, buildSerializer: noSchema } },
    frameworkErrors: (error, request, reply) => {
      void receiveUnreadable(service, request)
        .catch(() => undefined) // The request is answered even if it is not recorded.
        .then(() => answerFault(error, request, reply));
    },
    clientErrorHandler: answerClientError,
  });
  service.connections.watch(server);
  server.addHook('preClose', (done) => {
    service.timers.finish();
    done();
  });
  server.setErrorHandler(answerFault);
  server.setNotFoundHandler(answerUnknownOperation);
  server.register(operations(service), { prefix: PREFIX });
  server.register(controlInterface(service, controls), { prefix: CONTROL_PREFIX });
  server.register(paymentPage(service.database, service.behaviour));
  server.register(redeemPage(service.database));
  return server;
}

/** Keeps Fastify from loading its schema compilers: `validation.ts` checks the bodies. */
function noSchema(): never {
  throw new Error('a route has a Fastify schema, but no schema compiler is loaded');
}

async function listen(server: FastifyInstance, port: number): Promise<string> {
  try {
    return await server.listen({ host: HOST, port });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EADDRINUSE')
      throw new StartFailure(
        `sandbox cannot start: port ${port} on ${HOST} is in use; set SANDBOX_PORT to a free one`,
      );
    throw new StartFailure(
      `sandbox cannot start: it cannot listen on ${HOST}:${port} (${code ?? 'unknown reason'})`,
    );
  }
}
