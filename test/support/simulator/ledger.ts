import { randomBytes, randomUUID } from 'node:crypto';

/** The kinds of transactions, in the upstream's own words. */
export type Kind = 'airtime' | 'momo' | 'credit' | 'payment' | 'transfer';

/** The true state of a transaction. A queued one is not shown, and is paid later. */
export type TrueState =
  | 'queued'
  | 'unpaid'
  | 'pending'
  | 'paid'
  | 'failed'
  | 'reversed'
  | 'refunded'
  | 'deleted';

const LIVE: readonly TrueState[] = ['queued', 'unpaid', 'pending', 'paid'];

/** Returns whether the money of a payment has left the wallet, or is about to. */
export function isLive({ state }: Payment): boolean {
  return LIVE.includes(state);
}

/** One item of a request, as the caller sent it. */
export interface RequestedItem {
  kind: Kind;
  usd: number;
  phoneNumber?: string;
  email?: string;
  twitter?: string;
  receiver?: string;
  countryToSend?: string;
  momoCode?: string;
  reference?: string;
}

/** One payment that really happened, or waits in the queue. */
export interface Payment extends RequestedItem {
  id: string;
  chiRef: string;
  issueID: string;
  at: Date;
  feeUsd: number;
  state: TrueState;
  /** Number of the request that caused it. Zero if no request of this account's key did. */
  request: number;
  /** Position in the request. */
  position: number;
  /** The upstream made it in addition to a payment for the same item. */
  isSurplus: boolean;
  /** Number of earlier requests that had paid this recipient for good, when this one arrived. */
  alreadyPaid: number;
  /** It did not reach its recipient, or came back, at least once. */
  hasFailed: boolean;
}

/** One movement of a wallet, in US dollars. */
export interface WalletEntry {
  amount: number;
  before: number;
  after: number;
  at: Date;
}

const OPENING_USD = 1_000_000;

/** The name by which a recipient is compared: digits of a phone, or text in lower case. */
export function recipientOf({ phoneNumber, email, twitter, receiver }: Partial<RequestedItem>): string {
  if (phoneNumber !== undefined) return phoneNumber.replace(/\D/g, '');
  return (email || twitter || receiver || '').toLowerCase();
}

/** What each recipient of one account really got, when, and by which request. */
export class Ledger {
  readonly payments: Payment[] = [];
  readonly wallets = new Map<Kind, WalletEntry[]>();
  private readonly byRecipient = new Map<string, Payment[]>();
  private requests = 0;

  /** @param batchMs how long equal batches share an identifier. */
  constructor(
    readonly issuer: string,
    private readonly batchMs = 1,
  ) {}

  /** Number of the next request. */
  nextRequest(): number {
    return (this.requests += 1);
  }

  /** Returns an identifier of a batch in the observed form. Equal batches of one moment share it. */
  issueId(items: readonly RequestedItem[], feeUsd: number): string {
    const total = items.reduce((sum, { usd }) => sum + usd, feeUsd);
    const now = Date.now();
    return `${this.issuer}_${Number(total.toFixed(6))}_${now - (now % this.batchMs)}`;
  }

  paidTo(recipient: string): Payment[] {
    return this.byRecipient.get(recipient) ?? [];
  }

  /** Records the payment of an item. */
  pay(
    item: RequestedItem,
    more: Pick<Payment, 'issueID' | 'request' | 'position' | 'state' | 'feeUsd'> & Partial<Payment>,
  ): Payment {
    const earlier = this.paidTo(recipientOf(item)).filter((one) => isLive(one) && !one.hasFailed);
    const requests = new Set(earlier.map(({ request }) => request));
    requests.delete(more.request);
    const payment: Payment = {
      ...item,
      id: randomBytes(10).toString('hex'),
      chiRef: randomUUID(),
      at: new Date(),
      isSurplus: false,
      alreadyPaid: requests.size,
      hasFailed: false,
      ...more,
    };
    this.payments.push(payment);
    const recipient = recipientOf(item);
    this.byRecipient.set(recipient, [...this.paidTo(recipient), payment]);
    if (payment.state === 'paid' || payment.state === 'pending') this.move(payment, -1);
    return payment;
  }

  /** Changes the true state of a payment, and moves its money. */
  become(payment: Payment, state: TrueState): void {
    const wasOut = payment.state === 'paid' || payment.state === 'pending';
    const isOut = state === 'paid' || state === 'pending';
    if (payment.state === 'queued') payment.at = new Date();
    payment.state = state;
    payment.hasFailed ||= !isLive(payment);
    if (wasOut !== isOut) this.move(payment, isOut ? -1 : 1);
  }

  /** Pays everything in the queue that a condition selects. */
  drain(isDue: (payment: Payment) => boolean): void {
    for (const payment of this.payments) {
      if (payment.state === 'queued' && isDue(payment)) this.become(payment, 'paid');
    }
  }

  private move({ kind, usd, feeUsd }: Payment, sign: 1 | -1): void {
    const entries = this.wallets.get(kind) ?? [];
    this.wallets.set(kind, entries);
    const before = entries.at(-1)?.after ?? OPENING_USD;
    const amount = sign * (usd + feeUsd);
    entries.push({ amount, before, after: before + amount, at: new Date() });
  }
}

/** Returns the balance of a wallet. */
export function balanceOf(ledger: Ledger, kind: Kind): number {
  return ledger.wallets.get(kind)?.at(-1)?.after ?? OPENING_USD;
}
