import { Injectable } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { OperationCall } from '../../../access/auth/call';
import { limitsMoney } from '../../../access/clients/limits/limits';
import { readKnownAmount } from '../../../journal/lookups/earlier-calls';
import { UpstreamItem } from '../../../journal/records/records';
import { movesNamedTransaction } from '../../../operations/catalogue/catalogue';
import { Item } from '../../../operations/items/item';
import { PrismaService } from '../../../platform/database/pools/prisma.service';
import { databaseUnavailable } from '../../../platform/errors/problem';
import { limitsOfRequest } from '../../../policy/limits/limit-rules';
import { readTransaction } from '../../upstream/answers/transactions';
import { InternalReadsService } from './internal-reads.service';

/** Decimals and largest amount of `spending`. */
const DECIMALS = 6;
const MAX_USD = new Decimal('99999999999999');

/**
 * Finds the amount of an operation whose body names a transaction and no amount. A transaction's amount never
 * changes, so it can be read before admission.
 */
@Injectable()
export class MovedValueService {
  constructor(
    private readonly prisma: PrismaService,
    private readonly reads: InternalReadsService,
  ) {}

  /**
   * Returns the items with their amounts. Items of other operations are unchanged. Reads our own records
   * first. If they lack the amount and the client or its person has a limit in US dollars, reads the
   * upstream. An unknown amount stays null, and the limits decide about it.
   * @throws Problem if the upstream could not be read.
   */
  async fill(call: OperationCall, items: Item[]): Promise<Item[]> {
    if (!movesNamedTransaction(call.operation)) return items;
    return Promise.all(
      items.map(async (item) => {
        if (item.upstreamRef === null) return item;
        const { account } = call.caller;
        const known = await readKnownAmount(this.prisma, account, item.upstreamRef).catch(
          databaseUnavailable,
        );
        const amount =
          known ??
          (limitsMoney(limitsOfRequest(call)) ? await this.listedAmount(call, item.upstreamRef) : null);
        return { ...item, amountUsd: amount && countableAmount(amount) };
      }),
    );
  }

  /** Reads the amount of a transaction from the upstream's listing. Keeps no other transaction. */
  private async listedAmount(call: OperationCall, upstreamRef: string): Promise<Decimal | null> {
    const items = await this.reads.list(call, (element) => itemNamed(upstreamRef, element));
    const amounts = items.flatMap(({ amountUsd }) => amountUsd ?? []);
    return amounts.length > 0 ? Decimal.max(...amounts) : null;
  }
}

function itemNamed(upstreamRef: string, element: unknown): UpstreamItem[] {
  const transaction = readTransaction(element);
  if (transaction.upstreamRef !== upstreamRef) return [];
  const { upstreamId, batchRef, status, amountUsd, feeUsd } = transaction;
  return [{ position: null, upstreamRef, upstreamId, batchRef, status, amountUsd, feeUsd }];
}

/** Returns an amount that counts. Null for zero, a negative or a too large amount, which is unknown. */
function countableAmount(amount: Decimal): Decimal | null {
  const rounded = amount.toDecimalPlaces(DECIMALS, Decimal.ROUND_UP);
  return rounded.greaterThan(0) && rounded.lessThanOrEqualTo(MAX_USD) ? rounded : null;
}
