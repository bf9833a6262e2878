import { Account, MetPlan, PayAnswer, PayRequest } from '../../support/simulator/account';
import type { Payment } from '../../support/simulator/ledger';
import { numberOf } from '../bodies';
import type { Arrival } from '../checks/records';
import type { LogicalRequest } from '../schedule';
import { lieOf } from './lies';

/** How long equal batches share an identifier: longer than the schedules of a wave usually run. */
const BATCH_MS = 10_000;

interface Received {
  operation: string;
  number: number;
  answer: PayAnswer['answer'];
  /** Name of the lie about it. Null for an honest answer. */
  lie: string | null;
  paid: Payment[];
}

/** An account of the simulated upstream, which lies about the requests of schedules as they state. */
export class ScheduledAccount extends Account {
  private received: Received[] = [];
  private readonly planned = new Map<number, MetPlan & { name: string }>();

  constructor(name: string) {
    super(name, {}, BATCH_MS);
  }

  /** Begins a wave. The payments stay, because the list would otherwise lack known ones. */
  begin(): void {
    this.received = [];
    this.planned.clear();
  }

  /** Plans what a request states. */
  schedule(number: number, { simulated }: LogicalRequest): void {
    const { lie: name = null, isLasting = false } = simulated ?? {};
    if (name !== null)
      this.planned.set(number, { name, lie: lieOf(name), isLasting, variant: 0, arrivals: 0 });
  }

  override receive(request: PayRequest): PayAnswer {
    const number = numberOfItem(request);
    const plan = this.planned.get(number);
    const isMet = plan !== undefined && (plan.isLasting || plan.arrivals === 0);
    const result = super.receive(request);
    this.received.push({
      operation: `POST ${request.operation}`,
      number,
      answer: result.answer,
      lie: isMet ? plan.name : null,
      paid: result.paid,
    });
    return result;
  }

  protected override planOf(request: PayRequest): MetPlan | undefined {
    return this.planned.get(numberOfItem(request));
  }

  /** Returns the requests of this wave. */
  arrivals(): Arrival[] {
    return this.received.map(({ operation, number, answer, lie, paid }) => ({
      operation,
      number,
      processed: paid.some(({ state }) => state !== 'queued'),
      chiRefs: paid.map(({ chiRef }) => chiRef),
      fault: answer,
      httpStatus: null,
      answeredAt: null,
      lie,
      paid,
      ...(lie !== null && lieOf(lie).unknowable && { unknowable: 'late' as const }),
    }));
  }
}

function numberOfItem({ items: [item] }: PayRequest): number {
  return numberOf({ ...item, valueInUSD: item?.usd });
}
