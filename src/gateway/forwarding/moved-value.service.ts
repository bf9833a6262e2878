import { Injectable } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { OperationCall } from '../../access/auth/call';
import { limitsMoney } from '../../access/clients/limits';
import { readKnownAmount } from '../../journal/known-amounts';
import { UpstreamItem } from '../../journal/records';
import { Item } from '../../operations/item';
import { movesNamedTransaction } from '../../operations/catalogue';
import { PrismaService } from '../../platform/database/prisma.service';
import { databaseUnavailable, Problem } from '../../platform/errors/problem';
import { readTransaction } from '../upstream/transactions';
import { InternalReadsService } from './internal-reads.service';

/** As `spending` keeps amounts, and the largest that it holds. */
const DECIMALS = 6;
const MAX_USD = new Decimal('99999999999999');

/**
 * Finds the amount that an operation moves if its body names a transaction and no amount. The amount of a transaction never
 * changes, so it can be read before admission.
 */
@Injectable()
export class MovedValueService {
  constructor(
    private readonly prisma: PrismaService,
    private readonly reads: InternalReadsService,
  ) {}

  /**
   * The items with their amounts. Items of other operations are returned as they are. Our own records are asked first, and
   * then, if the client has a limit in US dollars, the upstream. An amount that neither knows stays null; the limits of the
   * client decide what that means.
   * @throws Problem if the upstream could not be asked.
   */
  async fill(call: OperationCall, items: Item[]): Promise<Item[]> {
    if (!movesNamedTransaction(call.operation)) return items;
    return Promise.all(
      items.map(async (item) => {
        if (item.upstreamRef === null) return item;
        const known = await readKnownAmount(this.prisma, item.upstreamRef).catch(databaseUnavailable);
        const amount = known ?? (limitsMoney(call.caller.limits) ? await this.listed(call, item.upstreamRef) : null);
        return { ...item, amountUsd: amount && usable(amount) };
      }),
    );
  }

  /** The amount that the upstream's listing gives for a transaction. Of the listing, only the transaction itself is kept. */
  private async listed(call: OperationCall, upstreamRef: string): Promise<Decimal | null> {
    const { failure, items } = await this.reads.list(call, 'POST /account/transactions', (element) =>
      itemNamed(upstreamRef, element),
    );
    if (failure !== null) throw unreadable(failure);
    const amounts = items.flatMap(({ amountUsd }) => amountUsd ?? []);
    return amounts.length > 0 ? Decimal.max(...amounts) : null;
  }
}

function itemNamed(upstreamRef: string, element: unknown): UpstreamItem[] {
  const transaction = readTransaction(element);
  if (transaction.upstreamRef !== upstreamRef) return [];
  const { upstreamId, batchRef, status, amountUsd } = transaction;
  return [{ position: null, upstreamRef, upstreamId, batchRef, status, amountUsd }];
}

/** An amount that is nothing, negative or too large to be counted is as good as unknown. */
function usable(amount: Decimal): Decimal | null {
  const rounded = amount.toDecimalPlaces(DECIMALS, Decimal.ROUND_UP);
  return rounded.greaterThan(0) && rounded.lessThanOrEqualTo(MAX_USD) ? rounded : null;
}

function unreadable(failure: string): Problem {
  return new Problem('upstream_unreachable', {
    text: `Your client has a limit in US dollars, and the value of this transaction could not be read from the payout service (${failure}). Nothing was sent. It is safe to send the request again.`,
  });
}
