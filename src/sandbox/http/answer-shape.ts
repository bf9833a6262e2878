import type { FastifyReply, FastifyRequest } from 'fastify';
import { Behaviour, QuirkName, QUIRKS } from '../behaviour/behaviour';
import type { StatusWords } from '../behaviour/lies';
import { shownStatus } from '../transactions/status';
import { failure } from './envelope';
import { isObject } from './rules';
import { Fields } from './validation';

/**
 * Applies the quirks of behaviour.ts to each answer, after the operation. (`badPhoneFailsBatch` changes the
 * operation itself: see `readAirtimeItem`.)
 */
export function shapeAnswers(behaviour: Behaviour) {
  return (request: FastifyRequest, reply: FastifyReply, answer: unknown, done: Done): void => {
    const { quirks } = behaviour;
    const words = behaviour.words[READS.test(request.routeOptions.url ?? '') ? 'listed' : 'answered'];
    const isUnchanged =
      SHAPING.every((name) => quirks[name] === QUIRKS[name]) && Object.keys(words).length === 0;
    if (isUnchanged || !isObject(answer)) return done(null, answer);

    if (quirks.errorWith200 && reply.statusCode === 400) void reply.status(200);
    if (!quirks.errorWithinSuccess && isNotFound(answer.data)) {
      void reply.status(quirks.errorWith200 ? 200 : 400);
      return done(null, failure(answer.data.error));
    }
    if (isObject(answer.data)) answer = { ...answer, data: shapeData(answer.data, quirks) };
    done(null, shapeDeeply(answer, quirks, words));
  };
}

/** The operations that list transactions or read one. */
const READS = /\/account\/(transaction|transactions|issue-id-transactions)$/;

type Done = (error: null, answer: unknown) => void;
type Quirks = Behaviour['quirks'];

const SHAPING = [
  'errorNone',
  'errorWithinSuccess',
  'errorWith200',
  'amountsAsStrings',
  'floatBalances',
  'payoutsAsMap',
  'newStatusWords',
] as const satisfies QuirkName[];

/** Returns whether the data of a success has only an error. */
function isNotFound(data: unknown): data is { error: string } {
  return isObject(data) && typeof data.error === 'string' && Object.keys(data).length === 1;
}

/** Applies traps 1 and 5 of docs/reference/upstream.md. */
function shapeData(data: Fields, quirks: Quirks): Fields {
  const { error, ...others } = data;
  const shaped = quirks.errorNone || error !== 'None' ? data : others;
  if (!Array.isArray(shaped.payouts)) return shaped;

  const payouts = quirks.errorNone ? shaped.payouts : shaped.payouts.map(withoutNone);
  return { ...shaped, payouts: quirks.payoutsAsMap ? { ...payouts, issueID: issueIDOf(data) } : payouts };
}

function withoutNone(payout: Fields): Fields {
  const { errorMessage, ...others } = payout;
  return errorMessage === 'None' ? others : payout;
}

function issueIDOf({ data, credits }: Fields): unknown {
  const [first] = (data ?? credits) as Fields[];
  return first?.issueID;
}

/** Applies traps 3 and 10 of docs/reference/upstream.md to each record of the answer. */
function shapeDeeply(value: unknown, quirks: Quirks, words: StatusWords): unknown {
  if (Array.isArray(value)) return value.map((element) => shapeDeeply(element, quirks, words));
  if (!isObject(value)) return value;
  const isTransaction = typeof value.chiRef === 'string';
  const shaped = Object.entries(value).map(([name, field]) => {
    if (quirks.amountsAsStrings && name === 'valueInUSD') return [name, String(field)];
    if (quirks.floatBalances && BALANCES.has(name)) return [name, withFloatError(Number(field))];
    if (name === 'status' && isTransaction) return [name, shownStatus(String(field), quirks, words)];
    return [name, OWN_TO_CALLERS.has(name) ? field : shapeDeeply(field, quirks, words)];
  });
  return Object.fromEntries(shaped) as Fields;
}

const BALANCES = new Set(['balance', 'balanceBefore', 'newBalance']);
const OWN_TO_CALLERS = new Set(['meta', 'redeemData']); // Returned as they were sent.

/** Subtracts as much from the true balance as 529.0179999999988 is below 529.018. */
function withFloatError(balance: number): number {
  return balance * (1 - 10 * Number.EPSILON);
}
