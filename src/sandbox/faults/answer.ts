import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OutgoingHttpHeaders } from 'node:http';
import { receivedOf } from '../arrivals/receive';
import type { Service } from '../service';
import type { Struck } from './faults';
import { rowOf } from './table';
import { Answer } from './wire';

/** Answers each request of the plugin as its fault requires, and records the answer. */
export function answerAsStruck(api: FastifyInstance, service: Service): void {
  api.addHook('onSend', (request, reply, payload, done) => {
    const received = receivedOf(request);
    // The request could not be recorded, so nothing was done, and the answer says so.
    if (!received) return done(null, payload);
    const answer = received.fault && answerOf(received.fault, request, reply, payload);
    const { send, silent } = received.fault ? rowOf(received.fault.fault) : {};

    const noted = silent ? Promise.resolve() : note(service, received.seq, answer?.status ?? reply.statusCode);
    void noted.then(() => {
      if (!answer) return done(null, payload);
      // `done` is never called, because the framework has nothing more to do with this answer.
      if (send) return void send(wireOf(service, reply), answer, received.fault?.settings ?? {});
      reply.status(answer.status).headers(answer.headers);
      done(null, answer.body);
    });
  });
}

function answerOf(struck: Struck, request: FastifyRequest, reply: FastifyReply, payload: unknown): Answer {
  const own = {
    status: reply.statusCode,
    headers: reply.getHeaders() as OutgoingHttpHeaders,
    body: typeof payload === 'string' ? payload : '',
  };
  const { answer } = rowOf(struck.fault);
  if (!answer) return own;
  return answer(own, struck.settings, {
    accountId: receivedOf(request)?.account?.id ?? null,
    url: request.originalUrl,
  });
}

function wireOf({ connections, timers }: Service, reply: FastifyReply) {
  return { response: reply.raw, connections, timers };
}

/** A failure to record a completed operation must not turn its answer into an error. */
async function note({ arrivals }: Service, seq: bigint, httpStatus: number): Promise<void> {
  try {
    await arrivals.answered(seq, httpStatus);
  } catch (error) {
    process.stderr.write(`sandbox: an answer was not noted: ${(error as Error).name}\n`);
  }
}
