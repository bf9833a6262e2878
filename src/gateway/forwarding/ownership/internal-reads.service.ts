import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { AuthenticatedCall, causedBy, OperationCall } from '../../../access/auth/call';
import { MetricsService } from '../../../http/metrics/metrics.service';
import { CallJournal } from '../../../journal/call-journal';
import { NewOutcome, UpstreamItem } from '../../../journal/records/records';
import { OperationName } from '../../../operations/catalogue/catalogue';
import { clock } from '../../../platform/database/clock';
import { databaseUnavailable, Problem } from '../../../platform/errors/problem';
import { MayPay } from '../../may-pay/may-pay.service';
import { obstacleProblem } from '../../may-pay/obstacle-problem';
import { Reader } from '../../may-pay/obstacles';
import { Listing } from '../../upstream/listing/listing';
import { toOutgoing } from '../../upstream/transport/outgoing';
import { UpstreamAccount } from '../../upstream/upstream-account';
import { UpstreamService } from '../../upstream/upstream.service';
import { ExchangeService } from '../exchange.service';
import { newIntent } from '../prepared-request';

const LISTING = 'POST /account/transactions';

/** Longest wait of a request for a listing, in ms. */
const LISTING_TIMEOUT_MS = 15_000;

/**
 * Reads upstream data that the proxy needs about a client's call. Each read is a recorded call of its own and
 * names the call that caused it. A read that outlives that call is finished and recorded.
 */
@Injectable()
export class InternalReadsService implements OnApplicationShutdown {
  private readonly logger = new Logger('InternalReads');
  private readonly unfinished = new Set<Promise<unknown>>();

  constructor(
    private readonly exchanges: ExchangeService,
    private readonly journal: CallJournal,
    private readonly upstream: UpstreamService,
    private readonly metrics: MetricsService,
    private readonly mayPay: MayPay,
  ) {}

  /**
   * Reads one answer. Caches answers of cached operations for other calls.
   * @returns its body. Undefined unless the upstream answered with a success and the read was recorded.
   */
  read(cause: AuthenticatedCall, operation: OperationName, query?: object): Promise<Buffer | undefined> {
    return this.track(causedBy(cause, operation), async (call) => {
      try {
        const { answer } = await this.exchanges.read(call, {
          outgoing: toOutgoing(this.accountOf(call), operation, query),
          items: [],
        });
        return answer.kind === 'succeeded' ? answer.body : undefined;
      } catch (err) {
        // Counts as a missing answer.
        if (err instanceof Problem && err.code === 'upstream_unreachable') return undefined;
        this.logger.warn({ call_id: call.id, operation, err }, 'internal read not sent or not recorded');
        return undefined;
      }
    });
  }

  /**
   * Reads the listing of transactions and keeps only the results of `pick`. Only these are recorded.
   * @throws Problem if the listing could not be read, or the read or its outcome could not be recorded.
   */
  list(
    cause: AuthenticatedCall,
    pick: (element: unknown) => UpstreamItem[],
    reader: Reader = 'app',
  ): Promise<UpstreamItem[]> {
    return this.track(causedBy(cause, LISTING), async (call) => {
      const account = this.accountOf(call);
      const outgoing = { ...toOutgoing(account, LISTING, {}), effect: 'read' as const };
      this.mayPay.require('read_without_circuit', {}, reader);
      await this.journal.open(newIntent(call, { outgoing, items: [] })).catch(databaseUnavailable);
      const [sentAt, started] = [clock.now(), performance.now()];
      const items: UpstreamItem[] = [];
      const take = (elements: unknown[]) => {
        items.push(...elements.flatMap(pick));
        return Promise.resolve();
      };
      const listing = await account.list(outgoing, take, AbortSignal.timeout(LISTING_TIMEOUT_MS));
      const outcome = outcomeOf(call, listing, { items, sentAt, upstreamMs: performance.now() - started });
      await this.journal.close(outcome, false).catch(databaseUnavailable);
      call.outcome = outcome.kind;
      const { failure } = listing;
      if (failure !== null) throw obstacleProblem({ kind: 'listing_unread', failure }, reader);
      return items;
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.unfinished);
  }

  private accountOf({ caller }: OperationCall): UpstreamAccount {
    return this.upstream.of(caller.account);
  }

  private track<Answer>(
    call: OperationCall,
    read: (call: OperationCall) => Promise<Answer>,
  ): Promise<Answer> {
    const answer = read(call).finally(() => this.metrics.count(call));
    const settled = answer.catch(() => undefined);
    this.unfinished.add(settled);
    void settled.finally(() => this.unfinished.delete(settled));
    return answer;
  }
}

/** Returns the recorded outcome of a listing. */
function outcomeOf(
  { id }: OperationCall,
  { failure, httpStatus }: Listing,
  { items, sentAt, upstreamMs }: Pick<NewOutcome, 'items' | 'sentAt' | 'upstreamMs'>,
): NewOutcome {
  const isKnown = failure === null || failure === 'rejected';
  return {
    intentId: id,
    kind: failure === null ? 'succeeded' : isKnown ? 'rejected' : 'unknown',
    failure: isKnown ? null : failure,
    upstreamStatus: httpStatus,
    contentType: null,
    retryAfter: null,
    body: null,
    items,
    sentAt,
    answeredAt: clock.now(),
    upstreamMs,
    answerOf: null,
    attempts: 1,
    tries: [],
  };
}
