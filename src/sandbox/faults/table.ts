import { integer, oneOf, Rule } from '../http/rules';
import {
  asErrorEnvelope,
  withErrorInData,
  Answer,
  cutShort,
  dribble,
  holdOpen,
  resetConnection,
  Wire,
  withoutData,
  withPadding,
} from './wire';

/** Values of a fault's settings. */
export type FaultSettings = Partial<Record<'ms' | 'status' | 'bytes' | 'retryAfter', number>>;

/** Properties of a struck request that its answer may depend on. */
interface StruckRequest {
  accountId: string | null;
  /** Path and query as received. */
  url: string;
}

/** One fault: its row in README.md, and its implementation. */
export interface FaultRow {
  /** Description in README.md and in the control interface. */
  does: string;
  /** Whether the operation is carried out by default. */
  processed: boolean;
  /** Whether a request may set `processed`. */
  choosesProcessed?: true;
  /** Default and rule of each setting, by name. */
  settings?: Record<string, { byDefault: number; rule: Rule }>;
  /** Time of execution: `ms` before the answer, or `ms` after it. Default: at once. */
  carriedOut?: 'delayed' | 'afterTheAnswer';
  /** Number of executions. Default: 1. */
  times?: number;
  /** Status of the transactions `ms` later. */
  becomesLater?: string;
  /** Omits the last item of a list of several. */
  leavesOutLast?: true;
  /** Returns the answer in place of the operation's own. */
  answer?: (own: Answer, settings: FaultSettings, request: StruckRequest) => Answer;
  /** Writes the answer. Default: through Fastify. */
  send?: (wire: Wire, answer: Answer, settings: FaultSettings) => void | Promise<void>;
  /** Whether its `send` gives no answer at all. */
  silent?: true;
}

const LONGEST_MS = 600_000;
const MOST_BYTES = 256 * 1024 * 1024;
const milliseconds = (byDefault: number) => ({ byDefault, rule: integer(0, LONGEST_MS) });

/** All faults, by name. Their statuses and texts follow docs/reference/upstream.md, "Envelope and errors". */
export const FAULTS = {
  delay: {
    does: 'waits `ms`, then carries the operation out and answers normally',
    processed: true,
    settings: { ms: milliseconds(3_000) },
    carriedOut: 'delayed',
  },
  noResponse: {
    does: 'never answers; the connection stays open until the client leaves or the sandbox stops',
    processed: true,
    choosesProcessed: true,
    send: holdOpen,
    silent: true,
  },
  resetBeforeProcessing: {
    does: 'resets the connection (TCP RST) and does nothing',
    processed: false,
    send: resetConnection,
    silent: true,
  },
  resetAfterProcessing: {
    does: 'resets the connection (TCP RST) instead of answering',
    processed: true,
    send: resetConnection,
    silent: true,
  },
  lateProcessing: {
    does:
      'answers an error at once and carries the operation out `ms` later, at the latest when the sandbox ' +
      'stops; the default 503 leaves the outcome open, `"status":500` makes it a lie',
    processed: true,
    settings: { ms: milliseconds(3_000), status: { byDefault: 503, rule: integer(400, 599) } },
    carriedOut: 'afterTheAnswer',
    answer: (_own, { status = 503 }) => error(status, 'service is unavailable, try again later'),
  },
  error500: {
    does: 'answers 500 with the error envelope',
    processed: false,
    choosesProcessed: true,
    answer: () => error(500, 'internal server error'),
  },
  error500AfterProcessing: {
    does: 'carries the operation out and answers 500 with the error envelope: a lie',
    processed: true,
    answer: () => error(500, 'internal server error'),
  },
  error500AfterSome: {
    does:
      'carries out all items but the last (a single one too) and answers 500 with the error envelope: ' +
      'half a lie',
    processed: true,
    leavesOutLast: true,
    answer: () => error(500, 'internal server error'),
  },
  errorBesideTransactions: {
    does:
      'carries out all items but the last (a single one too) and answers with the transactions and a ' +
      'text in `data.error`',
    processed: true,
    leavesOutLast: true,
    answer: (own) => withErrorInData(own, 'some of the items failed'),
  },
  errorNamingTransactions: {
    does:
      'carries out all items but the last (a single one too) and answers an error envelope with `status`, ' +
      'and the transactions in its `data`',
    processed: true,
    settings: { status: { byDefault: 400, rule: oneOf(200, 400, 500) } },
    leavesOutLast: true,
    answer: (own, { status = 400 }) => asErrorEnvelope(own, status, 'some of the items failed'),
  },
  successNamingNothing: {
    does: 'answers a success without the transactions',
    processed: true,
    choosesProcessed: true,
    answer: (own) => withoutData(own),
  },
  error502Html: {
    does: 'answers 502 with an HTML page, like a gateway',
    processed: true,
    choosesProcessed: true,
    answer: () => ({ status: 502, headers: { 'content-type': 'text/html' }, body: BAD_GATEWAY_PAGE }),
  },
  truncatedBody: {
    does: 'announces the whole answer (Content-Length), sends half of it and ends the connection',
    processed: true,
    choosesProcessed: true,
    send: cutShort,
  },
  malformedJson: {
    does: 'answers with half of the JSON, and a matching Content-Length',
    processed: true,
    choosesProcessed: true,
    answer: (own) => ({ ...own, body: own.body.slice(0, Math.ceil(own.body.length / 2)) }),
  },
  slowBody: {
    does: 'sends the answer in small pieces over `ms`',
    processed: true,
    settings: { ms: milliseconds(3_000) },
    send: dribble,
  },
  hugeBody: {
    does: 'adds a `padding` of `bytes` to the answer, which stays valid JSON',
    processed: true,
    settings: { bytes: { byDefault: 16 * 1024 * 1024, rule: integer(1, MOST_BYTES) } },
    answer: (own, { bytes = 0 }) => withPadding(own, bytes),
  },
  redirect: {
    does:
      'answers with `status` and a Location of the same operation (`?redirected=true`); a client that ' +
      'follows a 307 or 308 sends the request twice',
    processed: true,
    choosesProcessed: true,
    settings: { status: { byDefault: 302, rule: oneOf(301, 302, 303, 307, 308) } },
    answer: (_own, { status = 302 }, { url }) => ({
      status,
      headers: { location: `${url}${url.includes('?') ? '&' : '?'}redirected=true` },
      body: '',
    }),
  },
  unauthorized: {
    does: 'answers 401, as for an unknown key',
    processed: false,
    choosesProcessed: true,
    answer: () => error(401, 'key is not defined. Generate a new one from the developer portal'),
  },
  forbidden: {
    does: 'answers 403, as for an account without access',
    processed: false,
    choosesProcessed: true,
    answer: (_own, _settings, { accountId }) =>
      error(403, `API Access not enabled for account ${accountId ?? 'unknown'}`),
  },
  tooManyRequests: {
    does: 'answers 429 with `Retry-After: <retryAfter>`, in seconds',
    processed: false,
    choosesProcessed: true,
    settings: { retryAfter: { byDefault: 1, rule: integer(0, 86_400) } },
    answer: (_own, { retryAfter = 1 }) => ({
      ...error(429, 'too many requests'),
      headers: { 'content-type': JSON_TYPE, 'retry-after': String(retryAfter) },
    }),
  },
  duplicateTransaction: {
    does: 'carries the operation out twice and answers with the first result',
    processed: true,
    times: 2,
  },
  failsLater: becomesLater('failed', 'the transactions fail, and the money returns'),
  reversesLater: becomesLater('reversed', 'the transactions are reversed, and the money returns'),
  refundsLater: becomesLater('refunded', 'the transactions are refunded, and the money returns'),
} satisfies Record<string, FaultRow>;

/** Returns the row of a fault that answers normally, and changes the transactions later. */
function becomesLater(status: string, change: string) {
  const does = `carries the operation out and answers normally; \`ms\` later ${change}`;
  return { does, processed: true, settings: { ms: milliseconds(3_000) }, becomesLater: status } as const;
}

export type FaultName = keyof typeof FAULTS;

const JSON_TYPE = 'application/json; charset=utf-8';

const BAD_GATEWAY_PAGE = [
  '<html>',
  '<head><title>502 Bad Gateway</title></head>',
  '<body>',
  '<center><h1>502 Bad Gateway</h1></center>',
  '<hr><center>nginx</center>',
  '</body>',
  '</html>',
  '',
].join('\r\n');

function error(status: number, text: string): Answer {
  return {
    status,
    headers: { 'content-type': JSON_TYPE },
    body: JSON.stringify({ status: 'error', error: text }),
  };
}

/** Returns the row of a fault, with all optional fields in its type. */
export function rowOf(name: FaultName): FaultRow {
  return FAULTS[name];
}

export function isFaultName(name: unknown): name is FaultName {
  return typeof name === 'string' && Object.hasOwn(FAULTS, name);
}
