import { Readable } from 'node:stream';
import { AxiosAdapter, AxiosHeaders, AxiosResponse, InternalAxiosRequestConfig } from 'axios';
import { Dispatcher, Pool } from 'undici';
import { codeOf } from '../../../platform/errors/error-code';
import { FailureCode } from '../answers/answer';

declare module 'axios' {
  interface AxiosRequestConfig {
    /** W3C trace context to pass on. */
    traceparent?: string | undefined;
    /**
     * Called right before the first byte is written, in the same turn, and again before the last byte of a
     * long body. Returns the reason not to send the request any more, or undefined.
     */
    lastObstacle?: (() => FailureCode | undefined) | undefined;
  }
}

/**
 * Progress of an exchange: waiting for its turn (`queued`) or for a connection (`connecting`), written in
 * part or without a response (`waiting`), receiving a response (`answering`), or complete (`answered`).
 */
export type Phase = 'queued' | 'connecting' | 'waiting' | 'answering' | 'answered';

/** An exchange that ended without a complete response. */
export class ExchangeFailed extends Error {
  constructor(
    readonly failure: FailureCode,
    readonly phase: Phase,
  ) {
    super(failure);
  }

  /** Whether writing had begun. Otherwise the upstream provably received nothing. */
  get written(): boolean {
    return this.phase !== 'queued' && this.phase !== 'connecting';
  }
}

/** A complete response. Its headers bypass axios, whose classes for them take longer than a request. */
export interface ReceivedResponse {
  headers: Record<string, unknown>;
  body: Buffer;
}

const NO_HEADERS = new AxiosHeaders();

/** A longer body may wait in this process for the upstream to read. Exceeds the socket buffer of Node.js. */
const AT_ONCE_BYTES = 65_536;

/**
 * Sends axios requests through an undici pool, which keeps connections and is several times as fast as axios'
 * adapter. Never follows a redirect and never sends twice. A response over `maxBytes` is cut off. A request
 * that still waits for a connection at its deadline is never written.
 * @param credentials the headers of each request. axios does not see them, so its errors never contain our
 * key. axios' own headers are not sent.
 */
export function undiciAdapter(
  pool: Pool,
  maxBytes: number,
  credentials: Readonly<Record<'raw' | 'rawWithBody', readonly string[]>>,
): AxiosAdapter {
  return (config) =>
    new Promise((resolve, reject) => {
      const { url = '/', method = 'get', traceparent } = config;
      const body = (config.data as Buffer | null | undefined) ?? null;
      const known = body === null ? credentials.raw : credentials.rawWithBody;
      const all = traceparent === undefined ? (known as string[]) : [...known, 'traceparent', traceparent];
      const request = { path: url, method: method.toUpperCase(), headers: all, body };
      const exchange = new Exchange(config, maxBytes, resolve, reject);
      if (body === null || body.length <= AT_ONCE_BYTES) pool.dispatch(request, exchange);
      else {
        const headers = [...all, 'Content-Length', String(body.length)];
        // undici accepts iterables, but its types omit them.
        const parts = exchange.inParts(body) as unknown as Readable;
        pool.dispatch({ ...request, headers, body: parts }, exchange);
      }
    });
}

/** One exchange as undici reports it. It ends once: with its response, its failure or its deadline. */
class Exchange implements Dispatcher.DispatchHandler {
  private phase: 'connecting' | 'waiting' | 'answering' = 'connecting';
  private ended = false;
  private controller: Dispatcher.DispatchController | undefined;
  private status = 0;
  private headers: Record<string, unknown> = {};
  private readonly chunks: Buffer[] = [];
  private size = 0;
  /** undici reports the deadline of a queued request only when a connection is free, hence a timer here. */
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly config: InternalAxiosRequestConfig,
    private readonly maxBytes: number,
    private readonly resolve: (response: AxiosResponse<ReceivedResponse>) => void,
    private readonly reject: (reason: ExchangeFailed) => void,
  ) {
    this.timer = setTimeout(() => this.cutOff('timeout'), config.timeout);
  }

  /**
   * Called when the connection is ready (including TLS), right before the request's first byte. If it throws,
   * the request is dropped unwritten and the connection is kept.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.ended || this.phase !== 'connecting') throw new ExchangeFailed('timeout', this.phase);
    const obstacle = this.config.lastObstacle?.();
    if (obstacle) throw this.giveUp(new ExchangeFailed(obstacle, this.phase));
    this.phase = 'waiting';
    this.controller = controller;
  }

  /**
   * Holds the last byte of a body back until the connection has taken the others. The upstream cannot execute
   * the request without it. If the process freezes meanwhile, the byte is not sent when it wakes up.
   */
  *inParts(body: Buffer): Generator<Buffer> {
    yield body.subarray(0, -1);
    const obstacle = this.config.lastObstacle?.();
    if (obstacle) throw new ExchangeFailed(obstacle, this.phase); // also ends the connection
    yield body.subarray(-1);
  }

  onResponseStart(_controller: unknown, status: number, headers: Record<string, unknown>): void {
    this.phase = 'answering';
    this.status = status;
    this.headers = headers;
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.size += chunk.length;
    if (this.size > this.maxBytes) this.cutOff('oversized');
    else this.chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (!this.end()) return;
    const { chunks, config, headers, size, status } = this;
    const [first] = chunks;
    const body = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, size);
    this.resolve({ data: { headers, body }, status, statusText: '', headers: NO_HEADERS, config });
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (!this.end()) return;
    this.reject(
      error instanceof ExchangeFailed ? error : new ExchangeFailed(failureOf(error, this.phase), this.phase),
    );
  }

  /** Ends the exchange and closes its connection, if any. */
  private cutOff(failure: FailureCode): void {
    if (this.ended) return;
    const failed = this.giveUp(new ExchangeFailed(failure, this.phase));
    this.controller?.abort(failed);
  }

  private giveUp(failed: ExchangeFailed): ExchangeFailed {
    if (this.end()) this.reject(failed);
    return failed;
  }

  /** @returns whether it had not ended before. */
  private end(): boolean {
    if (this.ended) return false;
    clearTimeout(this.timer);
    return (this.ended = true);
  }
}

/** Returns the meaning of an undici error that ended an exchange in this phase. */
export function failureOf(error: unknown, phase: Phase): FailureCode {
  const code = codeOf(error) ?? '';
  if (code === 'ECONNREFUSED') return 'refused';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'dns';
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'connect_timeout';
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return 'timeout';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'oversized';
  if ((error as Error).name === 'HTTPParserError') return 'unreadable';
  if (code === 'EPROTO' || /CERT|SSL|TLS|VERIFY/.test(code)) return 'tls';
  return phase === 'connecting' ? 'not_connected' : 'reset';
}
