import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import axios, { AxiosInstance, AxiosResponse } from 'axios';
import { Pool } from 'undici';
import { Loaded } from '../config/config.module';
import { Secret } from '../config/secret';
import { Answer, Exchange, toAnswer } from './answer';
import { KeyRemover } from './key-remover';
import { ExchangeFailed, undiciAdapter } from './undici-adapter';
import { UnitName } from './unit-name';

/** A request in the interface's words: the path below the base address, query included, and its bytes. */
export interface Outgoing {
  method: 'GET' | 'POST';
  path: string;
  body: Buffer | null;
}

export interface TimedAnswer {
  answer: Answer;
  sentAt: Date;
  answeredAt: Date;
  /** By a monotonic clock. */
  upstreamMs: number;
  /** How often it was sent: more than once only what reads. */
  attempts: number;
}

/** Talks to the upstream. Nothing else imports axios, and nothing else reveals the upstream's key. */
@Injectable()
export class UpstreamService implements OnApplicationShutdown {
  private readonly pool: Pool;
  private readonly http: AxiosInstance;
  private readonly basePath: string;
  private readonly key: Secret;
  private readonly keyRemover: KeyRemover;
  private readonly unitName: UnitName;

  constructor(config: ConfigService<Loaded, true>) {
    const settings = config.get('settings', { infer: true });
    const base = new URL(settings.upstreamBaseUrl);
    this.basePath = base.pathname.replace(/\/$/, '');
    this.key = settings.upstreamApiKey;
    this.keyRemover = new KeyRemover(this.key.reveal());
    this.unitName = new UnitName(settings.upstreamUnitName);
    this.pool = new Pool(base.origin, {
      connections: settings.upstreamConnections,
      connect: { timeout: settings.upstreamConnectTimeoutMs },
      headersTimeout: settings.upstreamTimeoutMs,
      bodyTimeout: settings.upstreamTimeoutMs,
    });
    this.http = axios.create({
      adapter: undiciAdapter(this.pool, settings.upstreamMaxResponseBytes),
      timeout: settings.upstreamTimeoutMs,
      maxRedirects: 0,
      transformRequest: [(data: Buffer | undefined) => data], // the bytes go as they were recorded
      transformResponse: [(data: Buffer) => data],
    });
  }

  /** Sends once and never throws: a failure is an answer. Of the client's headers only its trace context travels. */
  async send(outgoing: Outgoing, traceparent: string | undefined): Promise<TimedAnswer> {
    const sentAt = new Date();
    const started = performance.now();
    const exchange = await this.exchange(outgoing, traceparent);
    const upstreamMs = performance.now() - started;
    return { answer: toAnswer(exchange), sentAt, answeredAt: new Date(), upstreamMs, attempts: 1 };
  }

  private async exchange({ method, path, body }: Outgoing, traceparent: string | undefined): Promise<Exchange> {
    try {
      const response: AxiosResponse<Buffer> = await this.http.request({
        method,
        url: this.basePath + this.unitName.inPath(path),
        data: this.unitName.inRequest(body) ?? undefined,
        headers: {
          'X-API-Key': this.key.reveal(),
          Accept: 'application/json',
          'Accept-Encoding': 'identity', // its bytes are recorded and passed on as they are
          'User-Agent': 'payout-proxy',
          'Content-Type': body ? 'application/json' : false, // else axios says of no body that it is a form
          ...(traceparent && { traceparent }),
        },
      });
      return {
        status: response.status,
        contentType: this.keyRemover.fromText(headerOf(response, 'content-type') ?? '') || null,
        contentEncoding: headerOf(response, 'content-encoding'),
        retryAfter: toSeconds(headerOf(response, 'retry-after')),
        body: this.unitName.inResponse(this.keyRemover.fromBytes(response.data)),
      };
    } catch (error) {
      if (error instanceof ExchangeFailed) return { failure: error.failure, written: error.written };
      return { failure: 'reset', written: true }; // nothing known: assume the worst
    }
  }

  /** Once the last request in flight is answered. */
  async onApplicationShutdown(): Promise<void> {
    await this.pool.close();
  }
}

function headerOf(response: AxiosResponse, name: string): string | null {
  const value: unknown = response.headers[name];
  return typeof value === 'string' ? value.slice(0, 255) : null;
}

/** `Retry-After` in its seconds form (RFC 9110, section 10.2.3); its date form is ignored. */
function toSeconds(value: string | null): number | null {
  return value !== null && /^\d{1,6}$/.test(value) ? Number(value) : null;
}
