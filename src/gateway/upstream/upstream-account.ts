import { Logger } from '@nestjs/common';
import { Axios } from 'axios';
import { Pool } from 'undici';
import { MetricsService } from '../../http/metrics/metrics.service';
import { RunningConfig } from '../../platform/config/config';
import { Secret } from '../../platform/config/secrets/secret';
import { AccountFunds, RunningAccount } from '../../platform/config/upstream/upstream-accounts';
import { longestUpstreamTimeout, upstreamTimeoutOf } from '../../platform/config/upstream/upstream-timeouts';
import { clock } from '../../platform/database/clock';
import { Egress } from '../../platform/network/egress';
import { MayPay } from '../may-pay/may-pay.service';
import { Answer, Exchange, toAnswer } from './answers/answer';
import { UnitName } from './answers/unit-name';
import { Listing, streamListing } from './listing/listing';
import { Circuit } from './transport/circuit';
import { decoded } from './transport/content-coding';
import { Credentials, headerOf, toSeconds } from './transport/headers';
import { UpstreamHealth } from './transport/health';
import { OutgoingRequest } from './transport/outgoing';
import { retryReads } from './transport/retry-reads';
import { ExchangeFailed, Phase, ReceivedResponse, undiciAdapter } from './transport/undici-adapter';

/** Connections for lists that may exceed memory. Separate, so no payout waits for them. */
const LISTING_CONNECTIONS = 2;

const JSON_TYPE = 'application/json';

/** One attempt to send a request. */
interface Try {
  startedAt: Date;
  /** By a monotonic clock. */
  ms: number;
  phase: Phase;
  answer: Answer;
}

export interface TimedAnswer {
  answer: Answer;
  /** Time of the handover for sending. It may have waited since. */
  sentAt: Date;
  answeredAt: Date;
  /** By a monotonic clock, including waiting. */
  upstreamMs: number;
  /** In order. Only reads have more than one. */
  tries: Try[];
}

/** The shared properties of all attempts to send a request. */
interface SendRequest {
  outgoing: OutgoingRequest;
  traceparent: string | undefined;
  /** Monotonic, in ms. */
  deadline: number;
  isTooLate: (() => boolean) | undefined;
}

/** Updated during an attempt, because its end does not show its phase. */
type Progress = Pick<Try, 'phase'>;

/** An account at the upstream, with its connections, key, circuits and health. Nothing else imports axios. */
export class UpstreamAccount {
  readonly name: string;
  /** The funds of its payouts. */
  readonly funds: AccountFunds;
  /** The account's health as observed by this instance. */
  readonly health = new UpstreamHealth();
  private readonly logger = new Logger('Upstream');
  private readonly circuits = new Map<string, Circuit>();
  private readonly pool: Pool;
  private readonly listingPool: Pool;
  private readonly http: InstanceType<typeof Axios>;
  private readonly basePath: string;
  private readonly credentials: Credentials;
  private readonly unitName: UnitName;

  constructor(
    account: RunningAccount,
    private readonly settings: RunningConfig,
    private readonly metrics: MetricsService,
    private readonly mayPay: MayPay,
    egress: Egress,
  ) {
    this.name = account.name;
    this.funds = account;
    const base = new URL(account.baseUrl);
    this.basePath = base.pathname.replace(/\/$/, '');
    this.credentials = new Credentials(account.apiKey);
    this.unitName = new UnitName(settings.upstreamUnitName);
    const longestMs = longestUpstreamTimeout(settings);
    const connect = egress.connector(settings.upstreamConnectTimeoutMs);
    this.pool = new Pool(base.origin, {
      connections: settings.upstreamConnections,
      connect,
      headersTimeout: longestMs, // each request has a shorter one
      bodyTimeout: longestMs,
    });
    this.listingPool = new Pool(base.origin, { connections: LISTING_CONNECTIONS, connect });
    // The many defaults of axios.create() take longer than sending. One of them reads the body.
    this.http = new Axios({
      adapter: undiciAdapter(this.pool, settings.upstreamMaxResponseBytes, this.credentials),
      maxRedirects: 0,
    });
  }

  /** Uses another key for every unsent request. */
  replaceKey(key: Secret): void {
    this.credentials.replace(key);
  }

  /**
   * Sends a request. Never throws, because a failure is an answer. Sends requests that pay or write at most
   * once, and reads up to three times within their deadline. Of the client's headers, only the trace context
   * is sent.
   * @param isTooLate whether the request or its admission is too old. Called right before the first byte.
   */
  async send(
    outgoing: OutgoingRequest,
    traceparent: string | undefined,
    isTooLate?: () => boolean,
  ): Promise<TimedAnswer> {
    const sentAt = clock.now();
    const started = performance.now();
    const deadline = started + upstreamTimeoutOf(outgoing.operation, this.settings);
    const tries: Try[] = [];
    const attempt = async () => {
      const [startedAt, start] = [clock.now(), performance.now()];
      const progress: Progress = { phase: 'queued' };
      const answer = await this.attempt({ outgoing, traceparent, deadline, isTooLate }, progress);
      tries.push({ startedAt, ms: performance.now() - start, phase: progress.phase, answer });
      return { answer, deadline };
    };
    const { answer: last } = outgoing.effect === 'read' ? await retryReads.execute(attempt) : await attempt();
    // The record must not claim "not sent" if only the last attempt was not.
    const answer = tries.findLast(({ answer: { kind } }) => kind !== 'not_sent')?.answer ?? last;
    const upstreamMs = performance.now() - started;
    return { answer, sentAt, answeredAt: clock.now(), upstreamMs, tries };
  }

  /**
   * Requests a list that may exceed memory, once. See `streamListing`. Throws the errors of `onBatch`.
   * Elements have the provider's own word for a credit.
   * @param onBatch receives the list's elements in order.
   */
  async list(
    { method, path, body }: OutgoingRequest & { effect: 'read' },
    onBatch: (elements: unknown[]) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<Listing> {
    const request = {
      method,
      path: this.basePath + this.unitName.inPath(path),
      body: this.unitName.inRequest(body),
      signal,
      headers: { ...this.credentials.headers, ...(body && { 'Content-Type': JSON_TYPE }) },
      timeoutMs: this.settings.reconciliation.listingTimeoutMs,
    };
    return streamListing(this.listingPool, request, this.credentials.remover, onBatch);
  }

  /**
   * Returns the seconds until the open circuit lets a request of an operation through. Null if it may be
   * sent.
   * @param request may become the next probe. Then send it or give it up. Omit it to ask only.
   */
  sendableInSeconds(operation: string, request?: OutgoingRequest): number | null {
    return this.circuitOf(operation).refusal(request)?.retryAfter ?? null;
  }

  /** Gives up a request that may have been the next probe. */
  giveUp(request: OutgoingRequest): void {
    this.circuitOf(request.operation).giveUp(request);
  }

  /** Removes our key from text other than answers. Returns the same bytes without a key. */
  withoutKey(bytes: Buffer): Buffer {
    return this.credentials.remover.fromBytes(bytes);
  }

  private async attempt(sending: SendRequest, progress: Progress): Promise<Answer> {
    const { outgoing } = sending;
    const answer = await this.circuitOf(outgoing.operation).run(outgoing, async () =>
      toAnswer(await this.exchange(sending, progress), outgoing),
    );
    this.health.record(answer);
    return answer;
  }

  private circuitOf(operation: string): Circuit {
    const known = this.circuits.get(operation);
    if (known) return known;
    const circuit = new Circuit((open) => {
      const { name: account } = this;
      this.metrics.openCircuits.set({ account, operation }, open ? 1 : 0);
      this.health.setCircuitOpen(operation, open);
      if (open)
        this.logger.warn(
          { account, operation },
          'circuit opened, upstream fails most requests, only probes are sent',
        );
      else this.logger.log({ account, operation }, 'circuit closed, upstream answers again');
    });
    this.circuits.set(operation, circuit);
    return circuit;
  }

  private async exchange(
    { outgoing: { effect, method, path, body }, traceparent, deadline, isTooLate }: SendRequest,
    progress: Progress,
  ): Promise<Exchange> {
    const { remover } = this.credentials;
    try {
      const { status, data } = await this.http.request<ReceivedResponse>({
        method,
        url: this.basePath + this.unitName.inPath(path),
        data: this.unitName.inRequest(body),
        timeout: deadline - performance.now(),
        traceparent,
        lastObstacle: () =>
          effect !== 'read' && this.mayPay.obstacleTo('first_byte')
            ? 'fenced'
            : isTooLate?.()
              ? 'too_late'
              : undefined,
      });
      progress.phase = 'answered';
      const contentEncoding = headerOf(data.headers, 'content-encoding');
      const plain = await decoded(data.body, contentEncoding, this.settings.upstreamMaxResponseBytes);
      return {
        status,
        contentType: remover.fromText(headerOf(data.headers, 'content-type') ?? '') || null,
        isDecoded: plain !== undefined,
        retryAfter: toSeconds(headerOf(data.headers, 'retry-after'), clock.nowMs()),
        body: this.unitName.inResponse(remover.fromBytes(plain ?? data.body)),
      };
    } catch (error) {
      if (error instanceof ExchangeFailed) {
        progress.phase = error.phase;
        return { failure: error.failure, written: error.written };
      }
      progress.phase = 'waiting';
      return { failure: 'reset', written: true }; // unknown, so the safe assumption
    }
  }

  /** Closes the connections once the last request is answered. A list in progress is read again later. */
  async close(): Promise<void> {
    await this.listingPool.destroy();
    await this.pool.close();
  }
}
