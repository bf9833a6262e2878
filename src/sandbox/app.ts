import Fastify, { FastifyInstance } from 'fastify';
import { Behaviour, defaultBehaviour } from './behaviour';
import { connectDatabase, Database } from './database';
import { answerClientError, answerFault, answerUnknownOperation } from './envelope';
import { paymentPage } from './payments/page';
import { operations, PREFIX } from './routes';
import { redeemPage } from './redeem/page';
import { seed } from './seed';
import { Settings, StartFailure } from './settings';
import { startSweeper } from './sweeper';

const HOST = '127.0.0.1';
const BODY_LIMIT_BYTES = 2 * 1024 * 1024; // a batch of 1,000 items is about 200 KiB

export interface Sandbox {
  /** The address to put before /api/v0.1, without a trailing slash. */
  url: string;
  /** Takes no new request, answers those in flight, leaves the database. */
  close(): Promise<void>;
}

/** Seeds the database and listens. Throws a {@link StartFailure} when it cannot. */
export async function createSandbox(settings: Settings): Promise<Sandbox> {
  const database = await connectDatabase(settings.databaseUrl);
  try {
    await seed(database, settings.apiKey);
    const behaviour = settings.behaviour ?? defaultBehaviour();
    const server = buildServer(database, behaviour);
    const url = await listen(server, settings.port);
    const sweeper = startSweeper(database, behaviour);
    return {
      url,
      close: async () => {
        await server.close();
        await sweeper.stop();
        await database.$disconnect();
      },
    };
  } catch (error) {
    await database.$disconnect();
    throw error;
  }
}

function buildServer(database: Database, behaviour: Behaviour): FastifyInstance {
  const server = Fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    return503OnClosing: false, // requests in flight while closing are answered as always
    frameworkErrors: answerFault,
    clientErrorHandler: answerClientError,
  });
  acceptAnyBodyAsJson(server);
  endConnectionsWhenClosing(server);
  server.setErrorHandler(answerFault);
  server.setNotFoundHandler(answerUnknownOperation);
  server.register(operations(database, behaviour), { prefix: PREFIX });
  server.register(paymentPage(database, behaviour));
  server.register(redeemPage(database));
  return server;
}

/** interface.md, Endpoints: "The examples send the body as JSON text"; only one of them sets a Content-Type. */
function acceptAnyBodyAsJson(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, text: string, done) => {
    if (text.trim() === '') return done(null, undefined);
    try {
      done(null, JSON.parse(text));
    } catch {
      done(Object.assign(new Error('request body is not valid JSON'), { statusCode: 400 }));
    }
  });
}

/** A connection kept alive after its last answer would hold up the close. */
function endConnectionsWhenClosing(server: FastifyInstance): void {
  let closing = false;
  server.addHook('preClose', (done) => {
    closing = true;
    done();
  });
  server.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) void reply.header('Connection', 'close');
    done(null, payload);
  });
}

async function listen(server: FastifyInstance, port: number): Promise<string> {
  try {
    return await server.listen({ host: HOST, port });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EADDRINUSE')
      throw new StartFailure(`sandbox cannot start: port ${port} on ${HOST} is taken, set SANDBOX_PORT to another one`);
    throw new StartFailure(`sandbox cannot start: it cannot listen on ${HOST}:${port} (${code ?? 'unknown reason'})`);
  }
}
