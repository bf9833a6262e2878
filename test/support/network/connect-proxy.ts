import { createServer, IncomingMessage, Server } from 'node:http';
import { AddressInfo, connect, Socket } from 'node:net';

/** Reacts to a request for a tunnel. */
export type TunnelHandler = (request: IncomingMessage, socket: Socket, head: Buffer) => void;

/** An egress proxy that connects every host name to one server. */
export class ConnectProxy {
  /** Received requests for tunnels. */
  readonly requests: { authority: string; headers: IncomingMessage['headers'] }[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly server: Server = createServer();

  private constructor(
    private readonly port: number,
    /** Opens tunnels by default. */
    public behaviour: TunnelHandler,
  ) {}

  /** @param url address of the server, on 127.0.0.1. */
  static async start(url: string): Promise<ConnectProxy> {
    const proxy: ConnectProxy = new ConnectProxy(Number(new URL(url).port), (request, socket, head) =>
      proxy.open(request, socket, head),
    );
    proxy.server.on('connection', (socket) => proxy.sockets.add(socket));
    proxy.server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      proxy.requests.push({ authority: request.url ?? '', headers: request.headers });
      socket.on('error', () => undefined);
      proxy.behaviour(request, socket, head);
    });
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** Returns the address with this user. */
  url(user: string): string {
    return `http://${user}@127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  readonly open: TunnelHandler = (_request, socket, head) => {
    const target = connect(this.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.write(head);
      target.pipe(socket).pipe(target);
    });
    target.on('error', () => socket.destroy());
    socket.on('close', () => target.destroy());
  };

  /** Ends all tunnels at once. */
  breakAll(): void {
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
  }

  async stop(): Promise<void> {
    this.breakAll();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Refuses a tunnel. */
export const refuse =
  (status: number): TunnelHandler =>
  (_request, socket) =>
    socket.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 0\r\n\r\n`);
