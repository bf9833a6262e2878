import { Decimal } from 'decimal.js';
import { Item, paidName } from '../operations/items/item';

interface Paying {
  clientId: string;
  items: Item[];
  usd: Decimal | null;
}

/** Finds clients of a batch that pay the same amount to the same recipient. */
export class SharedPayments {
  private readonly clients = new Map<string, Set<string>>();

  add(request: Paying): void {
    for (const payment of paymentsOf(request)) {
      this.clients.set(payment, new Set([...(this.clients.get(payment) ?? []), request.clientId]));
    }
  }

  /** Returns whether another client has paid one of the payments of a request. */
  hasOthers(request: Paying): boolean {
    return paymentsOf(request).some((payment) =>
      [...(this.clients.get(payment) ?? [])].some((other) => other !== request.clientId),
    );
  }
}

function paymentsOf({ usd, items }: Paying): string[] {
  if (usd === null) return [];
  return items.flatMap((item) => {
    const paid = paidName(item);
    return paid && item.amountUsd ? [`${paid.key} ${item.amountUsd.toFixed()}`] : [];
  });
}
