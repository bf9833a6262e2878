import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { Call, Caller, causedBy } from '../../access/auth/call';
import { limitsMoney } from '../../access/clients/limits';
import { PrismaService } from '../../platform/database/prisma.service';
import { databaseUnavailable, Problem } from '../../platform/errors/problem';
import { JournalService } from '../../journal/journal.service';
import { readKnownAmount } from '../../journal/known-amounts';
import { UpstreamItem } from '../../journal/records';
import { MetricsService } from '../../http/metrics/metrics.service';
import { Item } from '../../operations/item';
import { isObject } from '../upstream/answer';
import { Listing } from '../upstream/listing';
import { readTransaction } from '../upstream/transactions';
import { Outgoing, UpstreamService } from '../upstream/upstream.service';
import { movesNamedTransaction, OperationName } from '../../operations/catalogue';
import { toOutgoing } from './outgoing';

const LIST = 'POST /account/transactions';
const QUESTION = toOutgoing(LIST, {}) as Outgoing & { effect: 'read' };

/** A request does not wait longer for the upstream's listing. Without the amount it is refused. */
const PATIENCE_MS = 15_000;

/** As `spending` keeps amounts, and the largest that it holds. */
const DECIMALS = 6;
const MAX_USD = new Decimal('99999999999999');

/**
 * Finds what an operation moves whose body names a transaction and no amount. Nothing changes the amount of a transaction,
 * so it can be read before admission.
 */
@Injectable()
export class MovedValueService implements OnApplicationShutdown {
  private readonly unfinished = new Set<Promise<unknown>>();

  constructor(
    private readonly prisma: PrismaService,
    private readonly journal: JournalService,
    private readonly upstream: UpstreamService,
    private readonly metrics: MetricsService,
  ) {}

  /**
   * The items with their amounts. Items of other operations are returned as they are. Our own records are asked first, and
   * then, if the client has a limit in US dollars, the upstream. An amount that neither knows stays null; the limits of the
   * client decide what that means.
   * @throws Problem if the upstream could not be asked.
   */
  async fill(call: Call, items: Item[]): Promise<Item[]> {
    if (!movesNamedTransaction(call.operation as OperationName)) return items;
    const { limits } = call.caller as Caller;
    return Promise.all(
      items.map(async (item) => {
        if (item.upstreamRef === null) return item;
        const known = await readKnownAmount(this.prisma, item.upstreamRef).catch(databaseUnavailable);
        const amount = known ?? (limitsMoney(limits) ? await this.listed(call, item.upstreamRef) : null);
        return { ...item, amountUsd: amount && usable(amount) };
      }),
    );
  }

  /** A question that outlives its request is finished and recorded. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.unfinished);
  }

  private async listed(cause: Call, upstreamRef: string): Promise<Decimal | null> {
    const asking = this.ask(causedBy(cause, LIST), upstreamRef);
    const settled = asking.catch(() => undefined);
    this.unfinished.add(settled);
    void settled.finally(() => this.unfinished.delete(settled));
    return asking;
  }

  /** A call of our own, recorded like any other read. Of the listing, only the transaction itself is kept. */
  private async ask(call: Call, upstreamRef: string): Promise<Decimal | null> {
    try {
      const caller = call.caller as Caller;
      const intent = { ...call, caller, query: null, body: QUESTION.body, items: [], coverage: null };
      await this.journal.open(intent).catch(databaseUnavailable);
      const [sentAt, started] = [new Date(), performance.now()];
      const found: UpstreamItem[] = [];
      const take = (elements: unknown[]) => {
        found.push(...elements.flatMap((element) => itemNamed(upstreamRef, element)));
        return Promise.resolve();
      };
      const listing = await this.upstream.list(QUESTION, take, AbortSignal.timeout(PATIENCE_MS));
      await this.close(call, listing, { items: found, sentAt, upstreamMs: performance.now() - started });
      if (listing.failure !== null) throw unreadable(listing);
      const amounts = found.flatMap(({ amountUsd }) => amountUsd ?? []);
      return amounts.length > 0 ? Decimal.max(...amounts) : null;
    } finally {
      this.metrics.count(call);
    }
  }

  private async close(
    call: Call,
    { failure, httpStatus }: Listing,
    { items, sentAt, upstreamMs }: { items: UpstreamItem[]; sentAt: Date; upstreamMs: number },
  ): Promise<void> {
    const { kind, code } = outcomeOf(failure);
    const closed = { intentId: call.id, kind, failure: code };
    const none = { contentType: null, retryAfter: null, body: null, answerOf: null, tries: [] };
    const times = { attempts: 1, sentAt, answeredAt: new Date(), upstreamMs };
    await this.journal
      .close({ ...closed, ...none, ...times, upstreamStatus: httpStatus, items })
      .catch(databaseUnavailable);
    call.outcome = kind;
  }
}

function itemNamed(upstreamRef: string, element: unknown): UpstreamItem[] {
  const transaction = readTransaction(isObject(element) ? element : {});
  if (transaction.upstreamRef !== upstreamRef) return [];
  const { upstreamId, batchRef, status, amountUsd } = transaction;
  return [{ position: null, upstreamRef, upstreamId, batchRef, status, amountUsd }];
}

/** An amount that is nothing, negative or too large to be counted is as good as unknown. */
function usable(amount: Decimal): Decimal | null {
  const rounded = amount.toDecimalPlaces(DECIMALS, Decimal.ROUND_UP);
  return rounded.greaterThan(0) && rounded.lessThanOrEqualTo(MAX_USD) ? rounded : null;
}

/** What the record of a read says of a listing. */
function outcomeOf(failure: Listing['failure']) {
  if (failure === null) return { kind: 'succeeded' as const, code: null };
  return failure === 'rejected' ? { kind: failure, code: null } : { kind: 'unknown' as const, code: failure };
}

function unreadable({ failure }: Listing): Problem {
  return new Problem('upstream_unreachable', {
    text: `Your client has a limit in US dollars, and the value of this transaction could not be read from the payout service (${failure}). Nothing was sent. It is safe to send the request again.`,
  });
}
