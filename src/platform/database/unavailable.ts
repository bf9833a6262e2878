import { Prisma } from './generated/client';
import { DatabaseTooSlow } from './patience';

/**
 * SQLSTATEs (PostgreSQL, appendix A) of a server that is gone, stopping, starting or too busy: class 08 connection
 * exception, 40003 a commit that was not replicated (replication.ts), 25P03 idle in transaction timeout, 3D000 and 55000
 * a database that is being replaced (it does not exist, or accepts no connections), 53300 too many connections, 55P03 lock
 * timeout, 57014 statement timeout, 57P01 to 57P03 shutdown, crash and start.
 */
const SQLSTATE = /^(08\w{3}|40003|25P03|3D000|53300|55000|55P03|57014|57P0[1-3])$/;

/** The names that @prisma/adapter-pg uses for a server that it cannot reach. */
const ADAPTER_KINDS = [
  'DatabaseNotReachable',
  'DatabaseDoesNotExist',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
];

/**
 * Prisma's own codes: unreachable, connection timeout, operation timeout, connection closed, no connection or
 * transaction in time, too many connections.
 */
const PRISMA_CODES = ['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2037'];

/** Messages of pg and pg-pool for errors without a code. */
const PG_WORDS =
  /^(Connection terminated|Query read timeout|timeout expired|timeout exceeded when trying to connect|Client (was closed|has encountered a connection error))/;

/** Node's codes for a server that cannot be reached or closes the connection. */
const NETWORK = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND)$/;

/** Returns whether an error means that the database is unreachable or too busy, and that the query itself is fine. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) {
    if (error instanceof DatabaseTooSlow) return true;
    if (!(error instanceof Error)) return false;
    const { code = '' } = error as { code?: unknown }; // the code of pg: of the server, or of the connection
    return PG_WORDS.test(error.message) || (typeof code === 'string' && (SQLSTATE.test(code) || NETWORK.test(code)));
  }
  if (PRISMA_CODES.includes(error.code)) return true;
  // A raw query always has the code P2010. The adapter's error has the cause.
  const adapterError = error.meta?.driverAdapterError as
    | { cause?: { kind?: string; originalCode?: string } }
    | undefined;
  const { kind = '', originalCode = '' } = adapterError?.cause ?? {};
  return ADAPTER_KINDS.includes(kind) || SQLSTATE.test(originalCode);
}
