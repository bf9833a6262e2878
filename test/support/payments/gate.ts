import { AddressInfo, connect, createServer, Server, Socket } from 'node:net';

export type Direction = 'requests' | 'answers';

interface Lane {
  to: Socket;
  held: Buffer[];
  passed: number;
}

interface Connection {
  requests: Lane;
  answers: Lane;
  /** Directions held because a request contained the words. */
  marked: Set<Direction>;
}

/**
 * A TCP gate between a client and a server that can hold bytes. Closing one end of a connection closes the
 * other, and loses held bytes.
 */
export class Gate {
  private readonly server: Server;
  private readonly connections = new Map<Socket, Connection>();
  private readonly limits: Record<Direction, number> = { requests: Infinity, answers: Infinity };
  private words: { text: string; direction: Direction } | undefined;
  private waiting: { direction: Direction; count: number; done: () => void }[] = [];
  private port = 0;

  private constructor(private readonly target: () => string) {
    this.server = createServer((client) => this.join(client));
  }

  /** @param target returns the server's URL for each connection. */
  static async start(target: () => string): Promise<Gate> {
    const gate = new Gate(target);
    await gate.accept();
    return gate;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Limits each connection to this many more bytes in this direction. */
  hold(direction: Direction, afterBytes = 0): void {
    this.limits[direction] = afterBytes;
    for (const connection of this.connections.values()) connection[direction].passed = 0;
  }

  /** Holds the answers of each connection with a request that contains these words. */
  holdAnswersTo(words: string): void {
    this.words = { text: words, direction: 'answers' };
  }

  /** Holds each request that contains these words, and the rest of its connection. */
  holdRequestsWith(words: string): void {
    this.words = { text: words, direction: 'requests' };
  }

  /** Resolves once this many connections have held bytes. */
  held(direction: Direction, count = 1): Promise<void> {
    return new Promise((done) => {
      this.waiting.push({ direction, count, done });
      this.tell();
    });
  }

  /** Releases everything, held bytes first. */
  open(): void {
    this.limits.requests = Infinity;
    this.limits.answers = Infinity;
    this.words = undefined;
    for (const connection of this.connections.values()) {
      connection.marked.clear();
      for (const lane of [connection.requests, connection.answers]) {
        for (const chunk of lane.held.splice(0)) lane.to.write(chunk);
      }
    }
  }

  /** Ends every connection. Held bytes are lost. */
  cut(): void {
    for (const client of this.connections.keys()) client.destroy();
  }

  /** Refuses new connections until `accept`, and ends existing ones. */
  async refuse(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.cut();
    await closed;
  }

  async accept(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    if (this.server.listening) await this.refuse();
  }

  private join(client: Socket): void {
    const { hostname, port } = new URL(this.target());
    const server = connect(Number(port), hostname);
    const connection: Connection = { requests: lane(server), answers: lane(client), marked: new Set() };
    this.connections.set(client, connection);
    client.on('data', (chunk) => {
      if (this.words && chunk.includes(this.words.text)) connection.marked.add(this.words.direction);
      this.pass(connection, 'requests', chunk);
    });
    server.on('data', (chunk) => this.pass(connection, 'answers', chunk));
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.setNoDelay();
      socket.on('error', () => undefined); // its close follows
      socket.on('close', () => {
        other.destroy();
        this.connections.delete(client);
      });
    }
  }

  private pass(connection: Connection, direction: Direction, chunk: Buffer): void {
    const { to, held, passed } = connection[direction];
    const limit = connection.marked.has(direction) ? 0 : this.limits[direction];
    const room = Math.max(0, Math.min(chunk.length, limit - passed));
    connection[direction].passed += room;
    if (room > 0) to.write(chunk.subarray(0, room));
    if (room === chunk.length) return;
    held.push(chunk.subarray(room));
    this.tell();
  }

  private tell(): void {
    const count = (direction: Direction) =>
      [...this.connections.values()].filter((connection) => connection[direction].held.length > 0).length;
    const over = this.waiting.filter((one) => count(one.direction) >= one.count);
    this.waiting = this.waiting.filter((one) => !over.includes(one));
    for (const { done } of over) done();
  }
}

function lane(to: Socket): Lane {
  return { to, held: [], passed: 0 };
}
