import { connect } from 'node:net';
import { Client, ClientBase, Pool } from 'pg';

/** Interval of checks of statements in progress, in ms. */
const LOOK_EVERY_MS = 250;

/**
 * Waits between the requests to cancel one statement. A frozen server may take the first one before it has
 * read the statement, when it has nothing to cancel.
 */
const CANCEL_AGAIN_MS = [200, 1_000];

/** The fields of pg's client that name its backend. Its types do not have them. */
interface Backend {
  processID: number | null;
  secretKey: number | null;
}

/**
 * Cancels statements of a pool that outlive their caller's timeout, and closes their connections. The server
 * rolls the statement back unless it has committed. Otherwise, each request to a stuck server would leave a
 * backend, which would execute its statement long after the caller has left.
 * @returns a function that stops the checks.
 */
export function cancelOverdueStatements(pool: Pool, afterMs: number): () => void {
  const busy = new Map<ClientBase, number>();
  pool.on('acquire', (client) => busy.set(client, performance.now()));
  pool.on('release', (_error, client) => busy.delete(client));
  pool.on('remove', (client) => busy.delete(client));
  const timer = setInterval(() => {
    const before = performance.now() - afterMs;
    for (const [client, since] of busy) {
      if (since > before) return; // those after it are younger
      busy.delete(client);
      cancel(client);
      void (client as Client).end(); // it closes the connection of a statement in progress at once
    }
  }, LOOK_EVERY_MS).unref();
  return () => clearInterval(timer);
}

/**
 * Asks the server to cancel the statement of a connection, on a separate connection (PostgreSQL, "Canceling
 * Requests in Progress"). Like libpq's PQcancel, it needs no TLS.
 */
function cancel(client: ClientBase, [again, ...later] = CANCEL_AGAIN_MS): void {
  const { host, port } = client as Client;
  const { processID, secretKey } = client as unknown as Backend;
  if (processID === null || secretKey === null) return;
  const request = Buffer.alloc(16);
  for (const [at, value] of [16, CANCEL_CODE, processID, secretKey].entries())
    request.writeInt32BE(value, 4 * at);
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.on('error', () => undefined); // a server that is gone has no statement either
  // The server closes the connection once it has handled the request, a frozen one when it wakes up.
  socket.once('close', (hasFailed) => {
    if (!hasFailed && again !== undefined) setTimeout(() => cancel(client, later), again).unref();
  });
  socket.resume().unref();
  socket.end(request);
}

/** 1234 in the high half and 5678 in the low half, which no version of the protocol has. */
const CANCEL_CODE = 80_877_102;
