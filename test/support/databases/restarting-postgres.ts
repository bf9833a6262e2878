import { once } from 'node:events';
import { AddressInfo, connect, createServer, Server, Socket } from 'node:net';

/** Behaviour of a restarting Postgres toward its clients. */
type State = 'running' | 'starting' | 'gone';

/** A gate to a Postgres that simulates a restart on request. */
export class RestartingPostgres {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private state: State = 'running';
  private port = 0;

  private constructor(target: URL) {
    this.server = createServer((socket) => {
      this.keep(socket);
      if (this.state === 'starting') return refuse(socket, '57P03', 'the database system is starting up');
      const upstream = this.keep(connect(Number(target.port), target.hostname));
      socket.pipe(upstream).pipe(socket);
    });
  }

  /** @param url the address of the Postgres. */
  static async before(url: string, state: State): Promise<RestartingPostgres> {
    const gate = new RestartingPostgres(new URL(url));
    await gate.become('running');
    await gate.become(state);
    return gate;
  }

  /** Returns an address of the Postgres through this gate. */
  url(url: string): string {
    const through = new URL(url);
    through.port = String(this.port);
    return through.toString();
  }

  /** Changes the behaviour toward new clients. Disconnects those of a running server. */
  async become(state: State): Promise<void> {
    this.state = state;
    for (const socket of this.sockets) socket.destroy();
    if (state === 'gone') {
      this.server.close();
    } else if (!this.server.listening) {
      this.server.listen(this.port, '127.0.0.1');
      await once(this.server, 'listening');
      this.port = (this.server.address() as AddressInfo).port;
    }
  }

  private keep(socket: Socket): Socket {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.sockets.delete(socket));
    return socket;
  }
}

/** Answers the first message of a client with an error (PostgreSQL 18, 54.7). */
function refuse(socket: Socket, code: string, text: string): void {
  const content = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, content])));
}
