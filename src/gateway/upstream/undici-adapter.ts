import { AxiosAdapter, AxiosResponse, InternalAxiosRequestConfig } from 'axios';
import { Dispatcher, Pool } from 'undici';
import { FailureCode } from './answer';

declare module 'axios' {
  interface AxiosRequestConfig {
    /** Asked right before the first byte is written, in the same turn: whether it must not be sent any more. */
    isTooLate?: () => boolean;
  }
}

/**
 * How far an exchange came: it waited for its turn (`queued`); it had its turn, but no connection yet (`connecting`); it was
 * being written or was written, and nothing came back (`waiting`); a response began (`answering`), and was whole (`answered`).
 */
export type Phase = 'queued' | 'connecting' | 'waiting' | 'answering' | 'answered';

/** An exchange that ended without a whole response. */
export class ExchangeFailed extends Error {
  constructor(
    readonly failure: FailureCode,
    readonly phase: Phase,
  ) {
    super(failure);
  }

  /** Whether the request had begun to be written: if not, the upstream provably has not seen it. */
  get written(): boolean {
    return this.phase !== 'queued' && this.phase !== 'connecting';
  }
}

/** Of the response's headers only these are looked at; any other name could get in axios' way. */
const HEADERS_READ = ['content-type', 'content-encoding', 'retry-after'];

/**
 * Lets axios send through an undici pool, which keeps connections and is several times as fast as axios' own adapter. It
 * never follows a redirect and never sends twice; a response over `maxBytes` is cut off, and past its deadline a request
 * that still waits for a connection is never written.
 * @param headers that each request has beside its own: axios does not see them, so that no error of its has our key.
 */
export function undiciAdapter(pool: Pool, maxBytes: number, headers: Readonly<Record<string, string>>): AxiosAdapter {
  return (config) =>
    new Promise((resolve, reject) => {
      const request = {
        path: config.url ?? '/',
        method: (config.method ?? 'get').toUpperCase(),
        headers: { ...headers, ...(config.headers.toJSON() as Record<string, string>) },
        body: (config.data as Buffer | undefined) ?? null,
      };
      pool.dispatch(request, new Exchange(config, maxBytes, resolve, reject));
    });
}

/** One exchange, as undici tells of it. It ends once: with its response, its failure or its deadline. */
class Exchange implements Dispatcher.DispatchHandler {
  private phase: 'connecting' | 'waiting' | 'answering' = 'connecting';
  private ended = false;
  private controller: Dispatcher.DispatchController | undefined;
  private status = 0;
  private headers: Record<string, unknown> = {};
  private readonly chunks: Buffer[] = [];
  private size = 0;
  /** undici says nothing of a queued request's deadline until a connection is free: it cannot be the one to ask. */
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly config: InternalAxiosRequestConfig,
    private readonly maxBytes: number,
    private readonly resolve: (response: AxiosResponse<Buffer>) => void,
    private readonly reject: (reason: ExchangeFailed) => void,
  ) {
    this.timer = setTimeout(() => this.cutOff('timeout'), config.timeout);
  }

  /**
   * It is called once the connection stands (TLS included), right before the request's first byte. What throws here is
   * dropped unwritten, and its connection is kept.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.ended || this.phase !== 'connecting') throw new ExchangeFailed('timeout', this.phase);
    if (this.config.isTooLate?.()) throw this.giveUp(new ExchangeFailed('too_late', this.phase));
    this.phase = 'waiting';
    this.controller = controller;
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
    const data = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, size);
    const read = HEADERS_READ.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]));
    this.resolve({ data, status, statusText: '', headers: Object.fromEntries(read) as never, config });
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (!this.end()) return;
    this.reject(error instanceof ExchangeFailed ? error : new ExchangeFailed(failureOf(error, this.phase), this.phase));
  }

  /** Its connection is closed with it, if it has one. */
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

/** What an error of undici's means, that ended an exchange in this phase. */
export function failureOf(error: unknown, phase: Phase): FailureCode {
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return 'refused';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'dns';
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'connect_timeout';
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return 'timeout';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'oversized';
  if ((error as Error).name === 'HTTPParserError') return 'unreadable';
  if (code === 'EPROTO' || /CERT|SSL|TLS|VERIFY/.test(code)) return 'tls';
  return phase === 'connecting' ? 'not_connected' : 'reset';
}

function codeOf(error: unknown): string {
  const { code, errors } = error as { code?: string; errors?: { code?: string }[] };
  return code ?? errors?.[0]?.code ?? ''; // several addresses tried: an AggregateError
}
