import { Decimal } from 'decimal.js';
import { Limits } from '../../access/clients/limits/limits';

/** The payment of one item to its recipient. */
export interface Payment {
  /** Position of its item. */
  position: number;
  /** Key of the recipient. Equal for equal recipients of one client, without revealing them. */
  recipient: string;
  usd: Decimal;
}

/** The limits of a client that depend on its earlier payments. */
export type HistoryLimits = Pick<
  Limits,
  'maxRecipientDayUsd' | 'approvalOverRecipientDayUsd' | 'approvalOverDayUsd' | 'holdDuplicatesDays'
>;

/** Returns whether the limits of a client depend on its earlier payments. */
export function dependOnHistory(limits: HistoryLimits): boolean {
  const { maxRecipientDayUsd, approvalOverRecipientDayUsd, approvalOverDayUsd, holdDuplicatesDays } = limits;
  return (
    maxRecipientDayUsd !== null ||
    approvalOverRecipientDayUsd !== null ||
    approvalOverDayUsd !== null ||
    holdDuplicatesDays !== null
  );
}

/**
 * Totals by recipient. Held calls, calls in doubt and reservations count like payments.
 * See docs/internals/decisions/money/0032-limits-that-see-time.md.
 */
export class RecipientDays {
  constructor(
    /** Today's sum by recipient. */
    private readonly today = new Map<string, Decimal>(),
    /** The latest call whose payment holds equal ones, by `paymentKey`. */
    private readonly earlier = new Map<string, string>(),
  ) {}

  /** Returns the positions of items whose recipients would exceed a limit today. */
  over(payments: Payment[], limitUsd: Decimal | null): number[] {
    if (limitUsd === null) return [];
    const after = new Map<string, Decimal>();
    for (const { recipient, usd } of payments) {
      after.set(recipient, (after.get(recipient) ?? this.today.get(recipient) ?? new Decimal(0)).plus(usd));
    }
    return payments
      .filter(({ recipient }) => after.get(recipient)?.gt(limitUsd))
      .map(({ position }) => position);
  }

  /** Returns the latest earlier call that pays one of the recipients the same amount. */
  earlierCall(payments: Payment[]): string | undefined {
    return payments
      .map((payment) => this.earlier.get(paymentKey(payment)))
      .find((call) => call !== undefined);
  }

  /** Counts the payments of a call that may be sent, now or after an approval. */
  add(callId: string, payments: Payment[]): void {
    for (const payment of payments) {
      const { recipient, usd } = payment;
      this.today.set(recipient, usd.plus(this.today.get(recipient) ?? 0));
      this.earlier.set(paymentKey(payment), callId);
    }
  }
}

/** Returns a key of equal payments to one recipient. */
export function paymentKey({ recipient, usd }: Pick<Payment, 'recipient' | 'usd'>): string {
  return `${recipient} ${usd.toFixed()}`;
}
