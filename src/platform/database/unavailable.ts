import { Prisma } from './generated/client';
import { DatabaseTooSlow } from './patience';

/**
 * SQLSTATEs (PostgreSQL, appendix A) of a server that is gone, stopping, starting or too busy: class 08 connection exception,
 * 25P03 idle in a transaction for too long, 53300 too many connections, 55P03 lock not available in time, 57014 statement
 * cancelled (its time was over), 57P01 to 57P03 shutdown, crash and start.
 */
const SQLSTATE = /^(08\w{3}|25P03|53300|55P03|57014|57P0[1-3])$/;

/** What @prisma/adapter-pg calls a server that it cannot talk to. */
const ADAPTER_KINDS = ['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections'];

/**
 * Prisma's own codes: not reached, too slow to be reached, too slow, connection closed, no connection or no transaction in
 * time, too many connections.
 */
const PRISMA_CODES = ['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2037'];

/** pg and pg-pool give these errors no code. */
const PG_WORDS =
  /^(Connection terminated|Query read timeout|timeout expired|timeout exceeded when trying to connect|Client (was closed|has encountered a connection error))/;

/** Node's codes of a server that no connection can be made to, or that goes away. */
const NETWORK = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND)$/;

/** Whether an error says that the database could not be reached, or was too busy: nothing is wrong with what was asked of it. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) {
    if (error instanceof DatabaseTooSlow) return true;
    if (!(error instanceof Error)) return false;
    const { code = '' } = error as { code?: unknown }; // of pg itself: of the server, or of the connection
    return PG_WORDS.test(error.message) || (typeof code === 'string' && (SQLSTATE.test(code) || NETWORK.test(code)));
  }
  if (PRISMA_CODES.includes(error.code)) return true;
  // Of a raw query the code is always P2010: the adapter's own error lies behind it.
  const adapterError = error.meta?.driverAdapterError as
    | { cause?: { kind?: string; originalCode?: string } }
    | undefined;
  const { kind = '', originalCode = '' } = adapterError?.cause ?? {};
  return ADAPTER_KINDS.includes(kind) || SQLSTATE.test(originalCode);
}
