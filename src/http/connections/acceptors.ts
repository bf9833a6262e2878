import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, Server, Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { FastifyInstance } from 'fastify';

/**
 * Connections that wait to be accepted. Linux cuts it to `net.core.somaxconn`, 4,096. With Node's default of
 * 511, a burst of 1,000 connections has to try again after a second and more.
 */
export const BACKLOG = 4_096;

/**
 * Acceptors of the listening socket. Each accepts one connection per turn of the event loop. A turn takes
 * 50 ms and more while thousands of requests arrive. 200 vain attempts take 12 µs.
 */
const ACCEPTORS = 256;

/** Time limit for the copies, in ms. They take some 100 ms. */
const COPIED_WITHIN_MS = 10_000;

/** Sends each handle back as often as the parent says. It is only a number here: nothing is accepted. */
const RETURN_HANDLE = `process.on('message', (count, handle) => {
  for (let sent = 0; sent < count; sent += 1) process.send(sent, handle);
  process.disconnect();
})`;

/**
 * Lets a server accept several connections per turn of its event loop. Node accepts one, so a busy process
 * leaves the others in the kernel for a minute, where nothing can refuse them. See
 * docs/internals/decisions/performance/0073-a-flood-in-slices.md.
 */
export class Acceptors {
  private readonly servers: Server[] = [];
  private readonly closing = new AbortController();
  private started: Promise<void> | undefined;

  /** @param server Its close also ends the acceptors. Its hooks must already end the connections. */
  constructor(private readonly server: FastifyInstance) {
    server.addHook('preClose', () => this.close());
  }

  /** Begins to accept, once the server listens. Without it, the server accepts one connection per turn. */
  start(): Promise<void> {
    return (this.started = this.copy());
  }

  private async copy(): Promise<void> {
    try {
      await copyHandle(handleOf(this.server.server), ACCEPTORS - 1, {
        onCopy: (copy) => this.add(copy),
        signal: this.closing.signal,
      });
    } catch (err) {
      if (!this.closing.signal.aborted)
        new Logger('Connections').warn({ err }, 'connections are accepted one by one');
    }
  }

  private add(handle: Handle): void {
    if (this.closing.signal.aborted) return handle.close(); // an open copy would still take connections
    const acceptor = createServer({ allowHalfOpen: true, noDelay: true }); // like an HTTP server of Node
    acceptor.on('connection', (socket: Socket) => this.server.server.emit('connection', socket));
    acceptor.listen(handle, BACKLOG);
    this.servers.push(acceptor);
  }

  /** Ends the listening of all at once. Resolves once all connections have ended. */
  private async close(): Promise<void> {
    this.closing.abort();
    const all = [this.server.server, ...this.servers];
    await Promise.all([this.started, ...all.map((server) => once(server.close(), 'close'))]);
  }
}

/** The handle of a listening socket. Node does not document it. */
interface Handle {
  close(): void;
}

function handleOf(server: unknown): Handle {
  return (server as { _handle: Handle })._handle;
}

/**
 * Copies the handle of a listening socket. Node cannot, but an operating system copies what is sent to
 * another process.
 * @param signal ends the other process, whose copies would still take connections.
 */
async function copyHandle(
  handle: Handle,
  count: number,
  { onCopy, signal }: { onCopy: (copy: Handle) => void; signal: AbortSignal },
): Promise<void> {
  const child = spawn(process.execPath, ['-e', RETURN_HANDLE], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: {},
    timeout: COPIED_WITHIN_MS,
    killSignal: 'SIGKILL',
    signal,
  });
  child.on('error', () => undefined); // its close follows
  child.on('message', (_sent, copy) => onCopy(copy as unknown as Handle));
  child.send(count, handle as unknown as Server);
  const [code, ended] = await new Promise<[number | null, string | null]>((resolve) =>
    child.once('close', (...result) => resolve(result)),
  );
  if (code !== 0) throw new Error(`the helper ended with ${code ?? ended}`);
}

declare module 'fastify' {
  interface FastifyInstance {
    acceptors: Acceptors;
  }
}
