import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Connections } from '../http/connections';
import { isObject } from '../http/rules';
import type { Timers } from '../timers';

export interface Answer {
  status: number;
  headers: OutgoingHttpHeaders;
  body: string;
}

/** The means to write a broken answer, which Fastify would repair. */
export interface Wire {
  response: ServerResponse;
  connections: Connections;
  timers: Timers;
}

const PIECES = 20;

/** Never sends anything. */
export function holdOpen({ response, connections }: Wire): void {
  if (response.socket) connections.hold(response.socket);
}

/** Resets the connection. An ending one is destroyed instead: Node 20 never closes it after a reset. */
export function resetConnection({ response: { socket } }: Pick<Wire, 'response'>): void {
  if (socket?.writableEnded) socket.destroy();
  else socket?.resetAndDestroy();
}

/** Announces the whole answer and sends its first half. */
export function cutShort({ response }: Wire, answer: Answer): void {
  const bytes = announce(response, answer);
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.socket?.end());
}

/** Sends the body in pieces over `ms`. Ends early if the client disconnects. */
export async function dribble(
  { response, timers }: Wire,
  answer: Answer,
  { ms = 0 }: { ms?: number },
): Promise<void> {
  const bytes = announce(response, answer);
  const size = Math.ceil(bytes.length / PIECES);
  for (let sent = 0; sent < bytes.length && !response.destroyed; sent += size) {
    response.write(bytes.subarray(sent, sent + size));
    await timers.wait(ms / PIECES);
  }
  response.end();
}

/** Returns the same JSON object with one more field of this many bytes. */
export function withPadding(answer: Answer, bytes: number): Answer {
  const separator = answer.body === '{}' ? '' : ',';
  return { ...answer, body: `${answer.body.slice(0, -1)}${separator}"padding":"${'x'.repeat(bytes)}"}` };
}

function announce(response: ServerResponse, { status, headers, body }: Answer): Buffer {
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...headers, 'content-length': bytes.length });
  return bytes;
}

/** Returns a success with an error text in its `data` (docs/reference/upstream.md, trap 2). */
export function withErrorInData(own: Answer, text: string): Answer {
  return rewritten(own, (envelope) => ({
    ...envelope,
    data: { ...(isObject(envelope.data) && envelope.data), error: text },
  }));
}

/** Returns a success that names nothing. */
export function withoutData(own: Answer): Answer {
  return rewritten(own, (envelope) => ({ ...envelope, data: { error: 'None' } }));
}

/** Returns the same data in an error envelope. */
export function asErrorEnvelope(own: Answer, status: number, text: string): Answer {
  return { ...rewritten(own, ({ data }) => ({ status: 'error', error: text, data })), status };
}

/** Rewrites the envelope of a success. Leaves rejections unchanged. */
function rewritten(own: Answer, rewrite: (envelope: Record<string, unknown>) => object): Answer {
  const envelope: unknown = JSON.parse(own.body);
  if (!isObject(envelope) || envelope.status !== 'success') return own;
  return { ...own, body: JSON.stringify(rewrite(envelope)) };
}
