import { codeOf } from '../../errors/error-code';
import { Cause } from '../../storage/failures';
import { Prisma } from '../generated/client';
import { DatabaseTooSlow } from './timeouts';

/**
 * SQLSTATEs (PostgreSQL, appendix A) of a server that is gone, stopping, starting or too busy: class 08
 * connection exception, 40003 a commit that was not replicated (replication.ts), 25P03 idle in transaction
 * timeout, 3D000 and 55000 a database that is being replaced (it does not exist, or accepts no connections),
 * 55P03 lock timeout, 57014 statement timeout, 57P01 to 57P03 shutdown, crash and start.
 */
const SQLSTATE = /^(08\w{3}|40003|25P03|3D000|55000|55P03|57014|57P0[1-3])$/;

/**
 * SQLSTATEs of a server that responds and cannot do its work: 53100 disk full, 25006 read-only transaction,
 * class 58, XX001 and XX002 damaged or unreadable files, 53300 too many connections.
 */
const SPECIFIC: readonly [RegExp, Cause][] = [
  [/^53100$/, 'disk_full'],
  [/^25006$/, 'read_only'],
  [/^(58\w{3}|XX00[12])$/, 'io_error'],
  [/^53300$/, 'too_many_connections'],
];

/** The names that @prisma/adapter-pg uses for a server that it cannot reach. */
const ADAPTER_KINDS = ['DatabaseNotReachable', 'DatabaseDoesNotExist', 'ConnectionClosed', 'SocketTimeout'];

/** Prisma's own codes of an unreachable server, a closed connection and timeouts. */
const PRISMA_CODES = ['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028'];

/** Messages of pg and pg-pool for errors without a code. */
const PG_WORDS = new RegExp(
  '^(Connection terminated|Query read timeout|timeout expired|timeout exceeded when trying to connect|' +
    'Client (was closed|has encountered a connection error))',
);

/** Node's codes for a server that cannot be reached or closes the connection. */
const NETWORK = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND)$/;

/** Returns the cause of a server's failure, by an SQLSTATE. Undefined for other errors. */
export function causeOfState(code: string): Cause | undefined {
  return (
    SPECIFIC.find(([states]) => states.test(code))?.[1] ?? (SQLSTATE.test(code) ? 'unreachable' : undefined)
  );
}

/**
 * Returns the cause of a database's failure. A database that is too slow counts as unreachable.
 * @returns undefined if the query, or something else, is wrong.
 */
export function causeOf(error: unknown): Cause | undefined {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) {
    if (error instanceof DatabaseTooSlow) return 'unreachable';
    if (!(error instanceof Error)) return undefined;
    if (PG_WORDS.test(error.message)) return 'unreachable';
    const code = codeOf(error) ?? ''; // of pg: of the server, or of the connection
    return causeOfState(code) ?? (NETWORK.test(code) ? 'unreachable' : undefined);
  }
  // A raw query always has the code P2010. The adapter's error has the cause.
  const { kind = '', originalCode = '' } = adapterCauseOf(error);
  if (kind === 'TooManyConnections' || error.code === 'P2037') return 'too_many_connections';
  if (PRISMA_CODES.includes(error.code) || ADAPTER_KINDS.includes(kind))
    return causeOfState(originalCode) ?? 'unreachable';
  return causeOfState(originalCode);
}

/** Returns the database's own error in an error of Prisma. */
export function adapterCauseOf(error: unknown): { kind?: string; originalCode?: string } {
  const { meta } = error as {
    meta?: { driverAdapterError?: { cause?: { kind?: string; originalCode?: string } } };
  };
  return meta?.driverAdapterError?.cause ?? {};
}

/** Returns whether the database, and not the query, caused an error. */
export function isUnavailable(error: unknown): boolean {
  return causeOf(error) !== undefined;
}
