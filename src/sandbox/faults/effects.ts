import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { receivedOf } from '../arrivals/receive';
import { MAGIC, magicOf, Recipient } from '../behaviour/magic-recipients';
import { Work } from '../database';
import { isObject } from '../http/rules';
import type { Service } from '../service';
import type { Timers } from '../timers';
import type { FaultStrike } from './faults';
import { rowOf, isFaultName } from './table';
import { Answer } from './wire';

/** Applies the fault of each request to its answer, and records the answer. */
export function applyAnswerFaults(api: FastifyInstance, service: Service): void {
  api.addHook('onSend', (request, reply, payload, done) => {
    const received = receivedOf(request);
    // An unrecorded request was not carried out, and its answer is an error.
    if (!received) return done(null, payload);
    const answer = received.fault && answerOf(received.fault, request, reply, payload);
    const { send, silent } = received.fault ? rowOf(received.fault.fault) : {};

    const recorded = silent
      ? Promise.resolve()
      : recordAnswer(service, received.seq, answer?.status ?? reply.statusCode);
    void recorded.then(() => {
      if (!answer) return done(null, payload);
      // `done` is never called: Fastify has no part in this answer.
      if (send) return void send(wireOf(service, reply), answer, received.fault?.settings ?? {});
      reply.status(answer.status).headers(answer.headers);
      done(null, answer.body);
    });
  });
}

function answerOf(
  strike: FaultStrike,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Answer {
  const own = {
    status: reply.statusCode,
    headers: reply.getHeaders() as OutgoingHttpHeaders,
    body: typeof payload === 'string' ? payload : '',
  };
  const { answer } = rowOf(strike.fault);
  if (!answer) return own;
  return answer(own, strike.settings, {
    accountId: receivedOf(request)?.owner?.id ?? null,
    url: request.originalUrl,
  });
}

function wireOf({ connections, timers }: Service, reply: FastifyReply) {
  return { response: reply.raw, connections, timers };
}

/** Records the answer. A failure must not turn the answer of a completed operation into an error. */
async function recordAnswer({ arrivals }: Service, seq: bigint, httpStatus: number): Promise<void> {
  try {
    await arrivals.answered(seq, httpStatus);
  } catch (error) {
    process.stderr.write(`sandbox: answer not recorded: ${(error as Error).name}\n`);
  }
}

/** Answer of an operation that a fault does not carry out. */
const NOTHING_DONE = { error: 'None' };

/** Returns the body to carry out: the whole, or without the last item of its lists if the fault omits it. */
export function bodyForFault(strike: FaultStrike | undefined, body: unknown): unknown {
  if (!strike || !rowOf(strike.fault).leavesOutLast || !isObject(body)) return body;
  const lists = Object.entries(body).map(([name, value]) => [name, shortened(value)]);
  return Object.fromEntries(lists) as unknown;
}

function shortened(value: unknown): unknown {
  return Array.isArray(value) && value.length > 1 ? value.slice(0, -1) : value;
}

/** Carries an operation out at the time and as often as the fault requires, and returns its answer. */
export async function carryOut<T>(
  strike: FaultStrike | undefined,
  run: () => Promise<T>,
  timers: Timers,
): Promise<T | typeof NOTHING_DONE> {
  if (!strike) return run();
  if (!strike.processed) return NOTHING_DONE;
  const { carriedOut, times = 1 } = rowOf(strike.fault);
  const { ms = 0 } = strike.settings;
  if (carriedOut === 'afterTheAnswer') {
    timers.later(ms, run);
    return NOTHING_DONE;
  }
  if (carriedOut === 'delayed') await timers.wait(ms);
  const first = await run();
  // The first result stands, even if a repetition fails, for example for lack of money.
  for (let more = 1; more < times; more++) await run().catch(() => undefined);
  return first;
}

/** Statuses of items that never cost anything, and so return nothing. */
const WITHOUT_COST = ['failed', 'fraud', 'deleted'];

/**
 * Schedules the changes that a fault makes to the transactions of its request. The fault of a magic recipient
 * changes only transactions of magic recipients, each by its own row.
 */
export async function scheduleFaultChanges(
  work: Work,
  strike: FaultStrike | undefined,
  chiRefs: string[],
): Promise<void> {
  if (!strike || rowOf(strike.fault).becomesLater === undefined) return;
  const { ms = 0 } = strike.settings;
  const dueAt = new Date(Date.now() + ms);
  const transactions = await work.transaction.findMany({
    where: { chiRef: { in: chiRefs }, status: { notIn: WITHOUT_COST } },
  });
  const changes = transactions.flatMap(({ id, status, ...recipient }) => {
    const toStatus = strike.isMagic ? magicChangeOf(recipient) : rowOf(strike.fault).becomesLater;
    return toStatus === undefined ? [] : [{ transactionId: id, fromStatus: status, toStatus, dueAt }];
  });
  await work.dueChange.createMany({ data: changes, skipDuplicates: true });
}

function magicChangeOf(recipient: Recipient): string | undefined {
  const name = magicOf(recipient);
  const row = name && MAGIC[name];
  return row && 'fault' in row && isFaultName(row.fault) ? rowOf(row.fault).becomesLater : undefined;
}
