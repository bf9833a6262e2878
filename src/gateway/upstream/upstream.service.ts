import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Axios, AxiosResponse } from 'axios';
import { Pool } from 'undici';
import { RunningConfig } from '../../platform/config/config';
import { Loaded } from '../../platform/config/config.module';
import { Secret } from '../../platform/config/secret';
import { longestUpstreamTimeout, upstreamTimeoutOf } from '../../platform/config/upstream-timeouts';
import { MetricsService } from '../../http/metrics/metrics.service';
import { Answer, RequestKind, Exchange, toAnswer } from './answer';
import { Bulkhead } from './bulkhead';
import { Circuit } from './circuit';
import { headerOf, headersOf, toSeconds } from './headers';
import { UpstreamHealth } from './health';
import { KeyRemover } from './key-remover';
import { Listing, streamListing } from './listing';
import { readAgain } from './read-again';
import { stopRefusal } from './stop-refusal';
import { ExchangeFailed, Phase, undiciAdapter } from './undici-adapter';
import { UnitName } from './unit-name';

/**
 * How much of its time a request may spend waiting for its turn: what is sent at the very end of it would be cut off before
 * its answer, and leave a payout in doubt that had better not been sent.
 */
const SHARE_FOR_WAITING = 0.5;

/** For lists too long to be held. They have connections of their own, so that no payout waits until one has come. */
const LISTING_CONNECTIONS = 2;

const JSON_TYPE = 'application/json';

/**
 * A request in the interface's words: the path below the base address, query included, and its bytes. Only what reads is ever
 * sent again.
 */
export interface Outgoing extends RequestKind {
  operation: string;
  method: 'GET' | 'POST';
  path: string;
  body: Buffer | null;
}

/** One attempt to send a request. */
export interface Try {
  startedAt: Date;
  /** By a monotonic clock. */
  ms: number;
  phase: Phase;
  answer: Answer;
}

export interface TimedAnswer {
  answer: Answer;
  /** When it was handed over to be sent; it may have waited for its turn. */
  sentAt: Date;
  answeredAt: Date;
  /** By a monotonic clock, waiting included. */
  upstreamMs: number;
  /** In their order: more than one only of what reads. */
  tries: Try[];
}

/** What holds for all attempts at sending a request. */
interface Sending {
  outgoing: Outgoing;
  traceparent: string | undefined;
  /** Monotonic, milliseconds. */
  deadline: number;
  isStopped: () => Promise<boolean>;
  isTooLate: (() => boolean) | undefined;
}

/** Grows as an attempt goes on: what it ended with does not tell how far it came. */
type Progress = Pick<Try, 'phase'>;

/** Talks to the upstream. Nothing else imports axios, and nothing else reveals the upstream's key. */
@Injectable()
export class UpstreamService implements OnApplicationShutdown {
  /** As this instance sees it. */
  readonly health = new UpstreamHealth();
  private readonly logger = new Logger('Upstream');
  private readonly settings: RunningConfig;
  private readonly bulkhead: Bulkhead;
  private readonly circuits = new Map<string, Circuit>();
  private readonly pool: Pool;
  private readonly listingPool: Pool;
  private readonly http: InstanceType<typeof Axios>;
  private readonly basePath: string;
  private readonly key: Secret;
  private readonly keyRemover: KeyRemover;
  private readonly unitName: UnitName;

  constructor(
    config: ConfigService<Loaded, true>,
    private readonly metrics: MetricsService,
  ) {
    const settings = config.get('settings', { infer: true });
    this.settings = settings;
    this.bulkhead = new Bulkhead(settings.upstreamConnections, settings.upstreamQueue);
    metrics.watchUpstreamQueue(() => this.bulkhead.waiting);
    const base = new URL(settings.upstreamBaseUrl);
    this.basePath = base.pathname.replace(/\/$/, '');
    this.key = settings.upstreamApiKey;
    this.keyRemover = new KeyRemover(this.key.reveal());
    this.unitName = new UnitName(settings.upstreamUnitName);
    const longestMs = longestUpstreamTimeout(settings);
    this.pool = new Pool(base.origin, {
      connections: settings.upstreamConnections,
      connect: { timeout: settings.upstreamConnectTimeoutMs },
      headersTimeout: longestMs, // each request has its own, shorter one
      bodyTimeout: longestMs,
    });
    this.listingPool = new Pool(base.origin, {
      connections: LISTING_CONNECTIONS,
      connect: { timeout: settings.upstreamConnectTimeoutMs },
    });
    // Not axios.create(): of its many defaults, which cost more than the sending, none is wanted, least of all one that looks
    // into a body: the bytes go as they were recorded.
    this.http = new Axios({
      adapter: undiciAdapter(this.pool, settings.upstreamMaxResponseBytes, headersOf(this.key.reveal())),
      maxRedirects: 0,
    });
  }

  /**
   * Never throws: a failure is an answer. What pays or writes is sent once at most, what reads up to three times within its
   * deadline. Of the client's headers only its trace context travels.
   * @param isStopped whether what pays or writes was stopped since it was admitted; asked if it had to wait for its turn.
   * @param isTooLate whether it must not be sent any more; asked right before its first byte is written.
   */
  async send(
    outgoing: Outgoing,
    traceparent: string | undefined,
    isStopped: () => Promise<boolean>,
    isTooLate?: () => boolean,
  ): Promise<TimedAnswer> {
    const sentAt = new Date();
    const started = performance.now();
    const deadline = started + upstreamTimeoutOf(outgoing.operation, this.settings);
    const tries: Try[] = [];
    const attempt = async () => {
      const [startedAt, start] = [new Date(), performance.now()];
      const progress: Progress = { phase: 'queued' };
      const answer = await this.attempt({ outgoing, traceparent, deadline, isStopped, isTooLate }, progress);
      tries.push({ startedAt, ms: performance.now() - start, phase: progress.phase, answer });
      return { answer, deadline };
    };
    const { answer: last } = outgoing.effect === 'read' ? await readAgain.execute(attempt) : await attempt();
    // Nor is it on record as not sent when only its last attempt was not.
    const answer = tries.findLast(({ answer: { kind } }) => kind !== 'not_sent')?.answer ?? last;
    const upstreamMs = performance.now() - started;
    return { answer, sentAt, answeredAt: new Date(), upstreamMs, tries };
  }

  /**
   * Asks for a list that may be too long to be held, once; see `streamListing`. What `onBatch` throws, it throws. Its elements
   * have the provider's own word for a credit.
   * @param onBatch gets the list's elements in their order.
   */
  async list(
    { method, path, body }: Outgoing & { effect: 'read' },
    onBatch: (elements: unknown[]) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<Listing> {
    const request = {
      method,
      path: this.basePath + this.unitName.inPath(path),
      body: this.unitName.inRequest(body),
      signal,
      headers: { ...headersOf(this.key.reveal()), ...(body && { 'Content-Type': JSON_TYPE }) },
      timeoutMs: this.settings.reconciliation.listingTimeoutMs,
    };
    return streamListing(this.listingPool, request, this.keyRemover, onBatch);
  }

  /** What the upstream said otherwise than in an answer, without our key. The same bytes where it does not quote it. */
  withoutKey(bytes: Buffer): Buffer {
    return this.keyRemover.fromBytes(bytes);
  }

  private async attempt(sending: Sending, progress: Progress): Promise<Answer> {
    const { outgoing, deadline, isStopped } = sending;
    const circuit = this.circuitOf(outgoing.operation);
    const refusal = circuit.refusal(); // asked before it takes a place in the queue, and again when its turn has come
    if (refusal) return refusal;
    const patienceMs = (deadline - performance.now()) * SHARE_FOR_WAITING;
    const answer = await this.bulkhead.run(
      patienceMs,
      async () => (outgoing.effect === 'read' ? undefined : stopRefusal(isStopped)),
      () => circuit.run(async () => toAnswer(await this.exchange(sending, progress), outgoing)),
    );
    this.health.record(answer);
    if (answer.failure === 'overloaded') this.metrics.countShed(outgoing.operation);
    return answer;
  }

  private circuitOf(operation: string): Circuit {
    const known = this.circuits.get(operation);
    if (known) return known;
    const circuit = new Circuit((open) => {
      this.metrics.setCircuitOpen(operation, open);
      this.health.setCircuitOpen(operation, open);
      if (open) this.logger.warn({ operation }, 'circuit opened, upstream fails most requests, only probes are sent');
      else this.logger.log({ operation }, 'circuit closed, upstream answers again');
    });
    this.circuits.set(operation, circuit);
    return circuit;
  }

  private async exchange(
    { outgoing: { method, path, body }, traceparent, deadline, isTooLate }: Sending,
    progress: Progress,
  ): Promise<Exchange> {
    try {
      const response: AxiosResponse<Buffer> = await this.http.request({
        method,
        timeout: deadline - performance.now(),
        ...(isTooLate && { isTooLate }),
        url: this.basePath + this.unitName.inPath(path),
        data: this.unitName.inRequest(body) ?? undefined,
        headers: {
          'Content-Type': body ? JSON_TYPE : false, // else axios says of no body that it is a form
          ...(traceparent && { traceparent }),
        },
      });
      progress.phase = 'answered';
      return {
        status: response.status,
        contentType: this.keyRemover.fromText(headerOf(response, 'content-type') ?? '') || null,
        contentEncoding: headerOf(response, 'content-encoding'),
        retryAfter: toSeconds(headerOf(response, 'retry-after')),
        body: this.unitName.inResponse(this.keyRemover.fromBytes(response.data)),
      };
    } catch (error) {
      if (error instanceof ExchangeFailed) {
        progress.phase = error.phase;
        return { failure: error.failure, written: error.written };
      }
      progress.phase = 'waiting';
      return { failure: 'reset', written: true }; // nothing known: assume the worst
    }
  }

  /** Once the last request in flight is answered; a list that still comes is read again another time. */
  async onApplicationShutdown(): Promise<void> {
    await this.listingPool.destroy();
    await this.pool.close();
  }
}
