import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { receivedOf } from '../arrivals/receive';
import { MAGIC, magicOf, Recipient } from '../behaviour/magic-recipients';
import { Work } from '../database';
import { isObject } from '../http/rules';
import type { Service } from '../service';
import type { Timers } from '../timers';
import type { Struck } from './faults';
import { rowOf, isFaultName } from './table';
import { Answer } from './wire';

/** Answers each request of the plugin as its fault requires, and records the answer. */
export function answerAsStruck(api: FastifyInstance, service: Service): void {
  api.addHook('onSend', (request, reply, payload, done) => {
    const received = receivedOf(request);
    // The request could not be recorded, so nothing was done, and the answer says so.
    if (!received) return done(null, payload);
    const answer = received.fault && answerOf(received.fault, request, reply, payload);
    const { send, silent } = received.fault ? rowOf(received.fault.fault) : {};

    const noted = silent
      ? Promise.resolve()
      : note(service, received.seq, answer?.status ?? reply.statusCode);
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

/** The answer of a fault that has no answer of its own and carries nothing out. */
const NOTHING_DONE = { error: 'None' };

/** Returns the body to carry out: the whole, unless the fault leaves out the last item of a list. */
export function bodyAsStruck(struck: Struck | undefined, body: unknown): unknown {
  if (!struck || !rowOf(struck.fault).leavesOutLast || !isObject(body)) return body;
  const lists = Object.entries(body).map(([name, value]) => [name, shortened(value)]);
  return Object.fromEntries(lists) as unknown;
}

function shortened(value: unknown): unknown {
  return Array.isArray(value) && value.length > 1 ? value.slice(0, -1) : value;
}

/** Carries an operation out when and as often as the fault requires, and returns its answer. */
export async function carryOut<T>(
  struck: Struck | undefined,
  run: () => Promise<T>,
  timers: Timers,
): Promise<T | typeof NOTHING_DONE> {
  if (!struck) return run();
  if (!struck.processed) return NOTHING_DONE;
  const { carriedOut, times = 1 } = rowOf(struck.fault);
  const { ms = 0 } = struck.settings;
  if (carriedOut === 'afterTheAnswer') {
    timers.later(ms, run);
    return NOTHING_DONE;
  }
  if (carriedOut === 'delayed') await timers.wait(ms);
  const first = await run();
  // For example for lack of money. The first result stands.
  for (let more = 1; more < times; more++) await run().catch(() => undefined);
  return first;
}

/** Items that never cost anything have nothing to give back. */
const OVER = ['failed', 'fraud', 'deleted'];

/**
 * Schedules the change that a fault makes to the transactions of its request, in the work that carries the
 * request out. A fault of a magic recipient changes the transactions of such recipients only, each as its own
 * recipient says.
 */
export async function changeLater(work: Work, struck: Struck | undefined, chiRefs: string[]): Promise<void> {
  if (!struck || rowOf(struck.fault).becomesLater === undefined) return;
  const { ms = 0 } = struck.settings;
  const dueAt = new Date(Date.now() + ms);
  const transactions = await work.transaction.findMany({
    where: { chiRef: { in: chiRefs }, status: { notIn: OVER } },
  });
  const changes = transactions.flatMap(({ id, status, ...recipient }) => {
    const toStatus = struck.isMagic ? laterOf(recipient) : rowOf(struck.fault).becomesLater;
    return toStatus === undefined ? [] : [{ transactionId: id, fromStatus: status, toStatus, dueAt }];
  });
  await work.dueChange.createMany({ data: changes, skipDuplicates: true });
}

function laterOf(recipient: Recipient): string | undefined {
  const name = magicOf(recipient);
  const row = name && MAGIC[name];
  return row && 'fault' in row && isFaultName(row.fault) ? rowOf(row.fault).becomesLater : undefined;
}
