import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { LRUCache } from 'lru-cache';
import { randomInt } from 'node:crypto';
import { AuthenticatedCall, Call, leftOf, OperationCall } from '../../access/auth/call';
import { MetricsService } from '../../http/metrics/metrics.service';
import { isOperation, OperationName, rowOf } from '../../operations/catalogue';
import { Loaded } from '../../platform/config/config.module';
import { Problem } from '../../platform/errors/problem';
import { Gate, GateFull } from './gate';
import { Place, Priority } from './place';

/** More clients than are ever refused within a minute. */
const MAX_CLIENTS = 10_000;

/** The first refusal of a client in this time is recorded. The others are counted, so that a flood writes nothing. */
const RECORDED_EVERY_MS = 60_000;

/**
 * The part of its deadline that a request of a burst waits for a place: 600 ms of two seconds. A refusal after half of it
 * would take a second, and longer on a busy machine. The rest is for the admission.
 */
const SHARE_FOR_WAITING = 0.3;

/** Callers that were refused together do not come back together. Seconds. */
const RETRY_AFTER = { least: 1, most: 4 };

/** The gate of this instance: requests that would wait too long are refused before anything is written about them. */
@Injectable()
export class GateService {
  private readonly gate: Gate;
  private readonly recorded = new LRUCache<string, true>({ max: MAX_CLIENTS, ttl: RECORDED_EVERY_MS });

  constructor(
    config: ConfigService<Loaded, true>,
    private readonly metrics: MetricsService,
  ) {
    const { upstreamConnections, upstreamQueue, requestDeadlineMs } = config.get('settings', { infer: true });
    this.gate = new Gate(upstreamConnections, upstreamQueue, requestDeadlineMs * SHARE_FOR_WAITING);
    metrics.watchGate({
      waiting: () => this.gate.waiting,
      inUse: () => this.gate.inUse,
      admissionLimit: () => this.gate.admissions.current,
    });
  }

  /** Refuses a request for an operation before its body is read, if it would be refused anyway. */
  requireRoom({ caller, operation }: Call): void {
    if (!caller || !isOperation(operation)) return;
    const { clientId } = caller;
    if (this.gate.isFull(clientId, priorityOf(operation))) throw this.refusal(clientId, operation);
  }

  /**
   * Resolves once the call may be admitted and sent. The place is to be released.
   * @throws Problem `overloaded`. Nothing was written about the call.
   */
  enter(call: OperationCall): Promise<Place> {
    return this.enterFor(call, call.caller.clientId, call.operation);
  }

  /** The same for a held call of a client, which another one approves. */
  async enterFor(call: AuthenticatedCall, clientId: string, operation: OperationName): Promise<Place> {
    try {
      return await this.gate.enter(clientId, priorityOf(operation), leftOf(call));
    } catch (error) {
      if (error instanceof GateFull) throw this.refusal(clientId, operation);
      throw error;
    }
  }

  private refusal(clientId: string, operation: string): Problem {
    this.metrics.countShed(operation);
    const recorded = !this.recorded.has(clientId);
    if (recorded) this.recorded.set(clientId, true);
    return new Problem('overloaded', { recorded, retryAfter: randomInt(RETRY_AFTER.least, RETRY_AFTER.most) });
  }
}

function priorityOf(operation: OperationName): Priority {
  return rowOf(operation).effect === 'read' ? 'read' : 'payment';
}
