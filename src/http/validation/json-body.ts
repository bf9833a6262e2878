import { setImmediate as nextTurn } from 'node:timers/promises';
import { FastifyInstance, FastifyRequest } from 'fastify';
import { runAtOnce, runInTurns } from '../../platform/cooperative-task';
import { Problem } from '../../platform/errors/problem';
import { membersOf, shapeOf } from '../../platform/json/json-shape';
import { FaultList } from './faults';
import { findRepeatedNames } from './repeated-names';

/** Maximum depth of a body. The interface has three levels. Recursion over many could overflow the stack. */
const MAX_DEPTH = 16;

/**
 * Maximum number of different names. Each takes a microsecond or two, because V8 keeps them all. The bodies
 * of the interface have some thirty, and a caller's note (`meta`) of 8 KiB at most a thousand.
 */
const MAX_DIFFERENT_NAMES = 2_000;

/** Minimum size of a long body. Shorter ones take a few milliseconds. 500 payouts have about 50 kB. */
export const LONG_BODY_BYTES = 65_536;

/** Maximum number of values outside items. Enough for any body without items. */
const MAX_OTHER_VALUES = 10_000;

/** Maximum number of values per item. The largest item of the interface has ten fields. */
const MAX_VALUES_OF_ITEM = 25;

export const OTHER_TYPE = 'must be JSON, sent with Content-Type: application/json';

interface BodyLimits {
  maxBodyBytes: number;
  maxItems: number;
}

/** Waits for the turn of a request to parse its long body. @returns a function that ends the turn. */
type TurnOf = (request: FastifyRequest) => Promise<() => void>;

/** Reads request bodies: JSON in UTF-8 of up to `maxBodyBytes`, and CSV on routes that allow it. */
export function readJsonBodies(
  server: FastifyInstance,
  { maxBodyBytes: maxBytes, maxItems }: BodyLimits,
  turnOf: TurnOf,
): void {
  const parse = parserOf(maxItems, turnOf);
  server.addHook('onRoute', (route) => {
    const { maxBodyBytes = 0 } = (route.config ?? {}) as { maxBodyBytes?: number };
    if (maxBodyBytes > maxBytes) route.bodyLimit = maxBodyBytes;
  });
  server.addHook('preParsing', ({ call, headers }, reply, payload, done) => {
    call.bodyBeganAt = performance.now();
    if (/^(identity)?$/i.test(headers['content-encoding'] ?? '')) return done(null, payload);
    void reply.header('accept-encoding', 'identity'); // RFC 9110, section 15.5.16
    done(new Problem('unsupported_encoding'));
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('text/csv', (request, payload, done) => {
    if (request.routeOptions.config.takesCsv) done(null, payload);
    else done(bodyFault(OTHER_TYPE));
  });
  server.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit: maxBytes }, parse);
  server.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxBytes }, parseOther(parse));
}

type Done = (error: Error | null, body?: unknown) => void;
type Parse = (request: FastifyRequest, bytes: string | Buffer, done: Done) => void;

function parserOf(maxItems: number, turnOf: TurnOf): Parse {
  const mostValuesOf = (request: FastifyRequest) => {
    const longest = Math.max(maxItems, request.routeOptions.config.maxListItems ?? 0);
    return MAX_OTHER_VALUES + longest * MAX_VALUES_OF_ITEM;
  };
  const parseInTurn = async (request: FastifyRequest, bytes: Buffer) => {
    const { call } = request;
    const waitedFrom = performance.now();
    const endTurn = await turnOf(request);
    call.sendBy += performance.now() - waitedFrom; // others had their turns
    return parseInSteps(bytes, mostValuesOf(request)).finally(endTurn);
  };
  return (request, bytes, done) => {
    const { call } = request;
    call.sendBy += performance.now() - call.bodyBeganAt; // the sender may take its time
    if (bytes.length === 0) return done(null, undefined);
    if (bytes.length <= LONG_BODY_BYTES) return parseAtOnce(bytes as Buffer, mostValuesOf(request), done);
    parseInTurn(request, bytes as Buffer).then(
      (body) => done(null, body),
      (problem: Problem) => done(problem),
    );
  };
}

/** Default types of clients: `fetch` sends text, and `curl -d` sends a form. */
const TYPES_OF_TEXT = /^(text\/plain|application\/x-www-form-urlencoded)\s*(;|$)/i;

/**
 * Reads JSON that was sent as text or without a type, as in the interface's own examples. Requires the header
 * X-API-Key, because a page of another origin can send these types with a user's cookie.
 */
function parseOther(parse: Parse): Parse {
  return (request, bytes, done) => {
    const type = request.headers['content-type'];
    const { takesCsv = false } = request.routeOptions.config;
    const isText = type !== undefined && TYPES_OF_TEXT.test(type) && !takesCsv;
    if (type === undefined || (isText && hasKey(request))) return parse(request, bytes, done);
    done(bodyFault(OTHER_TYPE));
  };
}

function hasKey({ headers }: FastifyRequest): boolean {
  return headers['x-api-key'] !== undefined && headers['x-api-key'] !== '';
}

function parseAtOnce(bytes: Buffer, maxValues: number, done: Done): void {
  try {
    const { text, names } = checked(bytes, maxValues);
    const body = parseJson(text);
    if (membersOf(body) === names) return done(null, body);
    const found = new FaultList();
    runAtOnce(findRepeatedNames(text, found));
    done(repeatedNames(found));
  } catch (problem) {
    done(problem as Problem);
  }
}

/** Parses a long body, and lets other requests run between the steps. @throws Problem `invalid_request` */
async function parseInSteps(bytes: Buffer, maxValues: number): Promise<unknown> {
  await nextTurn(); // the body before it has just ended its last step
  const { text, names } = checked(bytes, maxValues);
  await nextTurn();
  const body = parseJson(text);
  await nextTurn();
  if (membersOf(body) === names) return body;
  const found = new FaultList();
  await runInTurns(findRepeatedNames(text, found));
  throw repeatedNames(found);
}

/**
 * Reads the text of a body, and counts its names.
 * @throws Problem `invalid_request`, also for bodies that would take too long to parse.
 */
function checked(bytes: Buffer, maxValues: number): { text: string; names: number } {
  const text = decode(bytes);
  const { names, differentNames, values, depth } = shapeOf(bytes, MAX_DIFFERENT_NAMES);
  if (depth > MAX_DEPTH) throw bodyFault(`must not be nested deeper than ${MAX_DEPTH} levels`);
  if (values > maxValues)
    throw bodyFault(`must have at most ${maxValues} fields and list entries, and has ${values}`);
  if (differentNames > MAX_DIFFERENT_NAMES) {
    throw bodyFault(`must have at most ${MAX_DIFFERENT_NAMES} different field names`);
  }
  return { text, names };
}

function repeatedNames({ faults, total }: FaultList): Problem {
  return new Problem('invalid_request', { faults, faultsTotal: total });
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Buffer): string {
  try {
    return UTF_8.decode(bytes);
  } catch {
    throw bodyFault('must be valid UTF-8');
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    // The parser's own message quotes the body, and bodies name people. Only the position is returned.
    const position = /in JSON at position (\d+)( \(line \d+ column \d+\))?$/.exec(
      (error as Error).message,
    )?.[1];
    throw bodyFault(
      position ? `must be valid JSON. The error is at character ${position}` : 'must be valid JSON',
    );
  }
}

export function isDeeperThan(value: unknown, levels: number): boolean {
  if (levels < 0) return true;
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).some((one) => isDeeperThan(one, levels - 1))
  );
}

export function bodyFault(detail: string): Problem {
  return new Problem('invalid_request', { faults: [{ pointer: '', detail: `the body ${detail}` }] });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by routes that allow longer bodies than others. */
    maxBodyBytes?: number;
    /** Set by routes whose list may be longer than that of a payment (MAX_ITEMS). */
    maxListItems?: number;
    /** Set by routes that read text/csv as a stream. */
    takesCsv?: boolean;
  }
}
