import { Inject, Injectable, OnModuleDestroy } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AuthenticatedCall, Call, OperationCall } from '../../access/auth/call';
import { Caller } from '../../access/callers/caller';
import { MetricsService } from '../../http/metrics/metrics.service';
import { isOperation, OperationName, rowOf } from '../../operations/catalogue/catalogue';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Problem } from '../../platform/errors/problem';
import { withoutStack } from '../../platform/errors/without-stack';
import { MayPay } from '../may-pay/may-pay.service';
import { obstacleProblem } from '../may-pay/obstacle-problem';
import { Reader } from '../may-pay/obstacles';
import { LoadShedder } from './load-shedder';
import { Overloaded } from './overloaded';
import { patienceMsOf } from './patience';
import { Permit, Priority } from './permit';

/** Bounds the map of refused clients. */
const MAX_CLIENTS = 10_000;

/** Records the first refusal of a client per interval and counts the others, so a flood writes nothing. */
const RECORDED_EVERY_MS = 60_000;

/** Body that takes the room of one request in a queue, in bytes. Most bodies have some hundred. */
const BYTES_PER_ROOM = 16_384;

/**
 * The shedders of this instance, one per upstream account. Refuses requests that would wait too long, before
 * anything is written about them. A slow account takes no permits from the others.
 */
@Injectable()
export class LoadShedderService implements OnModuleDestroy {
  private readonly shedders = new Map<string, LoadShedder>();
  private readonly newShedder: () => LoadShedder;
  private readonly recorded = new LRUCache<string, true>({ max: MAX_CLIENTS, ttl: RECORDED_EVERY_MS });

  constructor(
    @Inject(SETTINGS) { upstreamConnections, upstreamQueue, requestDeadlineMs }: RunningConfig,
    private readonly metrics: MetricsService,
    private readonly mayPay: MayPay,
  ) {
    this.newShedder = () =>
      new LoadShedder({
        permits: upstreamConnections,
        queueRoom: upstreamQueue,
        databaseStalledMs: requestDeadlineMs,
      });
    this.shedderOf(MAIN_ACCOUNT); // Metrics show its permits from the start.
    const watch = (name: string, help: string, valueOf: (shedder: LoadShedder) => number) => {
      const measure = () =>
        [...this.shedders].map(([account, shedder]) => ({ labels: { account }, value: valueOf(shedder) }));
      metrics.watch(name, help, measure, ['account']);
    };
    watch(
      'payout_proxy_waiting_requests',
      'Requests that wait for a permit to be admitted and sent.',
      ({ waiting }) => waiting,
    );
    watch(
      'payout_proxy_expected_wait_seconds',
      'Time that a payment of another client would wait for a permit now, as measured.',
      ({ expectedWaitMs }) => expectedWaitMs / 1_000,
    );
    watch(
      'payout_proxy_places_in_use',
      'Requests that are being admitted or answered by the upstream. ' +
        'At most UPSTREAM_CONNECTIONS for each account.',
      ({ inUse }) => inUse,
    );
    watch(
      'payout_proxy_admission_limit',
      'Limit of requests that wait for the database at once. It falls while the database is slow or fails.',
      ({ admissions }) => admissions.current,
    );
  }

  /** Refuses a request before its body is read, if it would be refused anyway. */
  requireRoom(call: Call): void {
    const { caller, operation } = call;
    if (!caller || !isOperation(operation)) return;
    const { account, clientId } = caller;
    const wanted = { client: clientId, ...waitOf(call, operation), room: 1 };
    try {
      this.shedderOf(account).requireRoom(wanted);
    } catch (error) {
      if (error instanceof Overloaded) throw this.refusal(error, clientId, operation);
      throw error;
    }
  }

  /**
   * Resolves once the call may be admitted and sent. Its deadline moves by its wait. Release the permit.
   * @param bytes length of its body.
   * @throws Problem `overloaded`, or the first obstacle. Nothing was written about the call.
   * @throws CallerDisconnected
   */
  enter(call: OperationCall, bytes: number): Promise<Permit> {
    return this.enterFor(call, call.caller, call.operation, { bytes });
  }

  /** Like `enter`, for a held call of a client that another caller approves. */
  async enterFor(
    call: AuthenticatedCall,
    { account, clientId }: Pick<Caller, 'account' | 'clientId'>,
    operation: OperationName,
    { bytes, reader = 'app' }: { bytes: number; reader?: Reader },
  ): Promise<Permit> {
    const beganAt = performance.now();
    const shedder = this.shedderOf(account);
    try {
      return await shedder.enter({
        client: clientId,
        ...waitOf(call, operation),
        room: Math.max(1, Math.ceil(bytes / BYTES_PER_ROOM)),
        isGone: () => call.connection?.writable === false,
      });
    } catch (error) {
      if (error instanceof Overloaded) throw this.refusal(error, clientId, operation, reader);
      throw error;
    } finally {
      const waitedMs = performance.now() - beganAt;
      // Its deadline for the database goes on while the database does not answer.
      call.sendBy += Math.max(0, waitedMs - shedder.admissions.unansweredMs);
      call.timings.queue = (call.timings.queue ?? 0) + waitedMs;
    }
  }

  /** Takes a permit for a queued call of a client. Undefined while requests need them. Release it. */
  enterFromQueue(account: string, clientId: string): Permit | undefined {
    return this.shedderOf(account).enterFromQueue(clientId);
  }

  onModuleDestroy(): void {
    for (const shedder of this.shedders.values()) shedder.close();
  }

  private shedderOf(account: string): LoadShedder {
    const known = this.shedders.get(account);
    if (known) return known;
    const shedder = this.newShedder();
    this.shedders.set(account, shedder);
    return shedder;
  }

  /** Returns the error for the first obstacle in the order of the checks: no room, or an earlier one. */
  private refusal(
    { retryAfter }: Overloaded,
    clientId: string,
    operation: OperationName,
    reader: Reader = 'app',
  ): Problem {
    this.metrics.shedRequests.inc({ operation });
    const recorded = !this.recorded.has(clientId);
    if (recorded) this.recorded.set(clientId, true);
    const full = { kind: 'no_room', retryAfter } as const;
    const act = rowOf(operation).effect === 'read' ? 'read' : 'send';
    const obstacle = this.mayPay.obstacleTo(act, { full }) ?? full;
    return withoutStack(() => obstacleProblem(obstacle, reader, { recorded }));
  }
}

/** Returns how long a call may still wait. Its wait to begin counts. */
function waitOf(
  { prefer, timings: { queue: waitedMs = 0 } }: Call,
  operation: OperationName,
): { priority: Priority; patienceMs: number } {
  const priority = rowOf(operation).effect === 'read' ? 'read' : 'payment';
  return { priority, patienceMs: patienceMsOf(operation, prefer) - waitedMs };
}
