import { createServer, IncomingMessage, Server, ServerResponse } from 'node:http';
import { AddressInfo, Socket } from 'node:net';
import { successOf } from './honest-answers';

export interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** Reaction to a complete request. The socket allows misbehavior. */
export type Behaviour = (request: ReceivedRequest, response: ServerResponse, socket: Socket) => unknown;

/** An upstream with configurable behaviour that stores all requests. */
export class FakeUpstream {
  readonly received: ReceivedRequest[] = [];
  private readonly server: Server;

  /** Reaction to requests. */
  behaviour: Behaviour = succeed;

  private constructor() {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const received = {
          method: request.method ?? '',
          url: request.url ?? '',
          headers: request.headers,
          body: Buffer.concat(chunks).toString('utf8'),
        };
        this.received.push(received);
        void this.behaviour(received, response, request.socket);
      });
    });
  }

  static async start(port = 0): Promise<FakeUpstream> {
    const upstream = new FakeUpstream();
    await new Promise<void>((resolve) => upstream.server.listen(port, '127.0.0.1', resolve));
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Answers with a status and a body: an object as JSON, a string unchanged. */
export function answer(
  status: number,
  body: object | string,
  headers: Record<string, string> = {},
): Behaviour {
  return (_request, response) => {
    const type = typeof body === 'string' ? 'text/html' : 'application/json';
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** Answers success, and names a transaction for each item. */
export const succeed: Behaviour = (request, ...rest) => answer(200, successOf(request))(request, ...rest);

/** Answers success, and names a failed transaction for each item. */
export const fail: Behaviour = (request, ...rest) => {
  const body = JSON.stringify(successOf(request)).replace(/"status":"(?:paid|Sent)"/g, '"status":"failed"');
  return answer(200, JSON.parse(body) as object)(request, ...rest);
};

/** Never answers. */
export const hang: Behaviour = () => undefined;

/** Reads the request, then resets the connection. */
export const reset: Behaviour = (_request, _response, socket) => socket.resetAndDestroy();
