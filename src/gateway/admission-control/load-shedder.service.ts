import { randomInt } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AuthenticatedCall, Call, remainingMs, OperationCall } from '../../access/auth/call';
import { Caller } from '../../access/callers/caller';
import { MetricsService } from '../../http/metrics/metrics.service';
import { isOperation, OperationName, rowOf } from '../../operations/catalogue/catalogue';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Problem } from '../../platform/errors/problem';
import { MayPay } from '../may-pay/may-pay.service';
import { obstacleProblem } from '../may-pay/obstacle-problem';
import { Reader } from '../may-pay/obstacles';
import { LoadShedder, Overloaded } from './load-shedder';
import { Permit, Priority } from './permit';

/** Bounds the map of refused clients. */
const MAX_CLIENTS = 10_000;

/** Records the first refusal of a client per interval and counts the others, so a flood writes nothing. */
const RECORDED_EVERY_MS = 60_000;

/**
 * Share of its deadline that a request of a burst waits for a permit: 600 ms of two seconds. The rest is for
 * the admission. A refusal after half of the deadline would take a second, and longer on a busy machine.
 */
const SHARE_FOR_WAITING = 0.3;

/** Range of Retry-After in seconds. The jitter spreads callers that were refused together. */
const RETRY_AFTER = { least: 1, most: 4 };

/**
 * The shedders of this instance, one per upstream account. Refuses requests that would wait too long before
 * anything is written about them. A slow account takes no permits from the others.
 */
@Injectable()
export class LoadShedderService {
  private readonly shedders = new Map<string, LoadShedder>();
  private readonly newShedder: () => LoadShedder;
  private readonly recorded = new LRUCache<string, true>({ max: MAX_CLIENTS, ttl: RECORDED_EVERY_MS });

  constructor(
    @Inject(SETTINGS) { upstreamConnections, upstreamQueue, requestDeadlineMs }: RunningConfig,
    private readonly metrics: MetricsService,
    private readonly mayPay: MayPay,
  ) {
    this.newShedder = () =>
      new LoadShedder(upstreamConnections, upstreamQueue, requestDeadlineMs * SHARE_FOR_WAITING);
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
  requireRoom({ caller, operation }: Call): void {
    if (!caller || !isOperation(operation)) return;
    const { account, clientId } = caller;
    if (this.shedderOf(account).isFull(clientId, priorityOf(operation)))
      throw this.refusal(clientId, operation);
  }

  /**
   * Resolves once the call may be admitted and sent. Release the permit.
   * @throws Problem `overloaded`, or the first obstacle. Nothing was written about the call.
   */
  enter(call: OperationCall): Promise<Permit> {
    return this.enterFor(call, call.caller, call.operation);
  }

  /** Like `enter`, for a held call of a client that another caller approves. */
  async enterFor(
    call: AuthenticatedCall,
    { account, clientId }: Pick<Caller, 'account' | 'clientId'>,
    operation: OperationName,
    reader: Reader = 'app',
  ): Promise<Permit> {
    try {
      return await this.shedderOf(account).enter(clientId, priorityOf(operation), remainingMs(call));
    } catch (error) {
      if (error instanceof Overloaded) throw this.refusal(clientId, operation, reader);
      throw error;
    }
  }

  private shedderOf(account: string): LoadShedder {
    const known = this.shedders.get(account);
    if (known) return known;
    const shedder = this.newShedder();
    this.shedders.set(account, shedder);
    return shedder;
  }

  /** Returns the error for the first obstacle in the order of the checks: no room, or an earlier one. */
  private refusal(clientId: string, operation: OperationName, reader: Reader = 'app'): Problem {
    this.metrics.shedRequests.inc({ operation });
    const recorded = !this.recorded.has(clientId);
    if (recorded) this.recorded.set(clientId, true);
    const retryAfter = randomInt(RETRY_AFTER.least, RETRY_AFTER.most);
    const full = { kind: 'no_room', retryAfter } as const;
    const act = rowOf(operation).effect === 'read' ? 'read' : 'send';
    return obstacleProblem(this.mayPay.obstacleTo(act, { full }) ?? full, reader, { recorded });
  }
}

function priorityOf(operation: OperationName): Priority {
  return rowOf(operation).effect === 'read' ? 'read' : 'payment';
}
