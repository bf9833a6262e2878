import { Client, Pool, QueryConfig } from 'pg';

/**
 * Runs a statement on a connection of a pool until a signal aborts. Then the connection is closed, and its server ends the
 * statement, if it checks connections (client_connection_check_interval).
 * @throws the reason of the signal.
 */
export async function askUntil<Row extends object>(
  pool: Pool,
  question: QueryConfig,
  signal: AbortSignal,
): Promise<Row[]> {
  signal.throwIfAborted();
  const connection = await pool.connect();
  // The end of a client that waits for an answer closes its socket.
  const cancel = () => void (connection as unknown as Client).end();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    signal.throwIfAborted();
    return (await connection.query<Row>(question)).rows;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', cancel);
    connection.release(signal.aborted);
  }
}
