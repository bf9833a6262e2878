import { randomBytes, randomUUID } from 'node:crypto';
import { successOf } from './answers';
import { Kind, Ledger, Payment, recipientOf, RequestedItem, TrueState } from './ledger';
import { AnswerLie, ForeignRow, Lie, Pays } from './lies';
import { Row, rowOf } from './rows';

/** The behaviour towards the requests for one recipient. */
export interface Plan {
  lie: Lie;
  /** Whether the account lies about every request, or only about the first. */
  isLasting: boolean;
  /** Which of the behaviours of a mixed lie. */
  variant: number;
}

/** A request to pay, as it arrived. */
export interface PayRequest {
  operation: string;
  kind: Kind;
  items: RequestedItem[];
}

/** The answer to a request to pay, and the payments that it causes. */
export interface PayAnswer {
  answer: AnswerLie | 'success';
  body: object;
  paid: Payment[];
}

/** A plan, and the number of requests that it has met. */
export type MetPlan = Plan & { arrivals: number };

/** What a mixed account does: pay and answer, pay and lose the answer, or fail honestly. */
type Variant = Pick<Lie, 'pays' | 'answer'>;
const VARIANTS: readonly Variant[] = [
  { pays: 'all', answer: 'success' },
  { pays: 'all', answer: 'reset' },
  { pays: 'none', answer: 'error-500' },
];

/** One account of the upstream: a key, a ledger and the lies about some recipients. */
export class Account {
  readonly key: string = randomBytes(16).toString('hex');
  readonly ledger: Ledger;
  /** Whether lists are honest and current, and words are the known ones. */
  isCurrent = false;
  private readonly plans = new Map<string, MetPlan>();
  private readonly lies = new Map<Payment, Lie>();
  private readonly lives = new Map<Payment, readonly TrueState[]>();
  private readonly foreign = new Map<Payment, Row>();
  private readonly echoed = new Set<Payment>();
  private lastPaid: Payment[] = [];

  /**
   * @param lie how it lists all transactions, and writes those of other recipients.
   * @param batchMs how long equal batches share an identifier.
   */
  constructor(
    readonly name: string,
    readonly lie: Pick<Lie, 'listing' | 'form'>,
    batchMs = 1,
  ) {
    this.ledger = new Ledger(`issuer-${name}`, batchMs);
  }

  /** Lies about the requests for a recipient. */
  plan(recipient: string, plan: Plan): void {
    this.plans.set(recipient, { ...plan, arrivals: 0 });
  }

  /** Pays, or not, and decides about the answer. */
  receive(request: PayRequest): PayAnswer {
    const { lie, variant } = this.behaviourTo(request);
    const { pays, answer } = lie.mixed ? (VARIANTS[variant % VARIANTS.length] as Variant) : lie;
    const paid = this.pay(request, pays, lie);
    const showsAll = lie.rows === 'surplus';
    const shown = paid.filter(({ state, isSurplus }) => state !== 'queued' && (showsAll || !isSurplus));
    const rows = this.rowsOf(shown, lie);
    const error = lie.rows === 'some' ? `1 of ${request.items.length} items failed` : 'None';
    if (lie.rows === 'echoed' && shown.length > 0) this.lastPaid = shown;
    return { answer, body: successOf(request.operation, { ...request, rows, error }), paid };
  }

  /** Returns the plan for a request. Undefined for an honest answer. */
  protected planOf({ items }: PayRequest): MetPlan | undefined {
    return this.plans.get(recipientOf(items[0] ?? {}));
  }

  private behaviourTo(request: PayRequest): { lie: Lie; variant: number } {
    const plan = this.planOf(request);
    const honest: Lie = { pays: 'all', answer: 'success', ...this.lie };
    if (!plan) return { lie: honest, variant: 0 };
    plan.arrivals += 1;
    return { lie: plan.isLasting || plan.arrivals === 1 ? plan.lie : honest, variant: plan.variant };
  }

  private pay({ items, operation }: PayRequest, pays: Pays, lie: Lie): Payment[] {
    const { life, feeUsd = 0, foreign } = lie;
    if (pays === 'none') return [];
    const made = pays === 'all-but-last' ? items.slice(0, -1) : items;
    const issueID = this.ledger.issueId(items, feeUsd);
    const request = this.ledger.nextRequest();
    const isLink = operation === '/send' || operation === '/payouts/initiate-credit';
    const state = pays.startsWith('queued') ? 'queued' : isLink ? 'unpaid' : (life?.[0] ?? 'paid');
    const paid = made.flatMap((item, position) => {
      const more = { issueID, request, position, state, feeUsd } as const;
      const one = this.ledger.pay(item, more);
      return pays === 'twice' ? [one, this.ledger.pay(item, { ...more, isSurplus: true })] : [one];
    });
    for (const payment of paid) {
      this.lies.set(payment, lie);
      if (life) this.lives.set(payment, life.slice(1));
      if (foreign) this.foreign.set(payment, this.foreignRow(payment, foreign));
    }
    return paid;
  }

  private rowsOf(paid: Payment[], { rows: lie }: Lie): Row[] {
    const rows = paid.map((payment) => this.show(payment));
    if (lie === 'reversed') return rows.reverse();
    // the first one in place of the last, or of the one that was not paid
    if (lie === 'repeated') return [...rows.slice(0, 2), ...rows.slice(0, 1)];
    const [earlier] = this.lastPaid;
    if (lie !== 'echoed' || !earlier || this.echoed.has(earlier)) return rows;
    this.echoed.add(earlier);
    return [this.show(earlier)];
  }

  /** Returns a payment as the account shows it now. */
  show(payment: Payment): Row {
    const { form = {}, laterFeeUsd } = this.lies.get(payment) ?? (this.lie as Lie);
    const feeUsd = this.isCurrent ? laterFeeUsd : undefined;
    return rowOf(payment, { issuer: this.ledger.issuer, form, feeUsd, isRevealed: this.isCurrent });
  }

  /** Returns the fee of a payment, as the account shows it now. */
  feeOf(payment: Payment): number {
    return (this.isCurrent ? this.lies.get(payment)?.laterFeeUsd : undefined) ?? payment.feeUsd;
  }

  /** A payment of another party, which failed, under a name of one of ours. */
  private foreignRow(payment: Payment, lie: ForeignRow): Row {
    const { id, chiRef, reference } = payment;
    const names = {
      'same-chiref': { chiRef },
      'same-id': { id },
      'same-reference': reference ? { reference } : {},
    };
    const other = { id: randomBytes(10).toString('hex'), chiRef: randomUUID(), usd: 3 };
    const made = { ...payment, ...other, phoneNumber: '+254799999999', state: 'failed' } as const;
    const row = this.show({ ...made, kind: 'airtime', issueID: this.ledger.issueId([made], 0) });
    delete row.reference;
    return { ...row, ...names[lie] };
  }

  /** Returns every row that the account would list if its lists were honest and current, newest first. */
  rows(): { payment: Payment | undefined; row: Row }[] {
    return this.ledger.payments
      .filter(({ state }) => state !== 'queued' && state !== 'deleted')
      .flatMap((payment) => {
        const foreign = this.foreign.get(payment);
        const own = { payment, row: this.show(payment) };
        if (!foreign) return [own];
        const other = { payment: undefined, row: foreign };
        return payment.request % 2 === 0 ? [own, other] : [other, own]; // readers must not trust the order
      })
      .reverse();
  }

  /**
   * Moves each payment to its next state.
   * @returns whether any payment had one.
   */
  advance(): boolean {
    let hasChanged = false;
    for (const [payment, [next, ...later]] of this.lives) {
      const isEchoed = this.echoed.has(payment);
      if (next === undefined || (this.lies.get(payment)?.rows === 'echoed' && !isEchoed)) continue;
      this.ledger.become(payment, next);
      this.lives.set(payment, later);
      hasChanged = true;
    }
    return hasChanged;
  }

  /** Pays what waits in the queue. A long queue waits for the end of the period of any doubt. */
  drain(isLate: boolean): void {
    this.ledger.drain((payment) => isLate || this.lies.get(payment)?.pays === 'queued');
  }
}
