import { App, insist, openLoop, Order } from './orders';
import type { Stage } from './stage';

const VALUE_USD = 0.25;

/** Lets an app send each payment once, without a retry. */
export const NO_RETRY_MS = 0;

/** Returns the body of the order with this number: a payout to its own recipient. */
function paymentOf(number: number): object {
  const phoneNumber = `+2547${String(number).padStart(8, '0')}`;
  return { airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD: VALUE_USD }] };
}

export function orderOf(app: App, number: number): Order {
  return {
    app,
    operation: 'POST /payouts/airtime',
    body: paymentOf(number),
    key: `order-${number}`,
    attempts: [],
  };
}

/** Number of orders per person, and of those below the person's cap. */
const ORDERS_OF_A_PERSON = 12;
const WITHIN_A_CAP = 8;

/** Orders of airtime payouts, each to another number, by several apps in turn. */
export class Payments {
  readonly orders: Order[] = [];

  constructor(
    private readonly stage: Stage,
    private readonly apps: App[],
  ) {}

  /** Creates the usual apps: without a cap, with a low cap, and with a cap for each person. */
  static async of(stage: Stage): Promise<Payments> {
    return new Payments(stage, [
      await stage.app('shop'),
      await stage.app('market'),
      await stage.app('capped', { capUsd: 10 }),
      await stage.app('pages', { personCapUsd: WITHIN_A_CAP * VALUE_USD }),
    ]);
  }

  next(): Order {
    const number = this.orders.length + 1;
    const [app] = this.apps.slice(number % this.apps.length);
    if (!app) throw new Error('there is no app');
    const order = orderOf(app, number);
    if (app.personCapUsd !== null) {
      order.person = `person-${Math.floor(number / this.apps.length / ORDERS_OF_A_PERSON)}`;
    }
    this.orders.push(order);
    return order;
  }

  /**
   * Starts this many payments per second, and repeats each until its answer is final.
   * @param giveUpAfterMs time after which an app gives up. `NO_RETRY_MS` sends once.
   */
  async flow(rate: number, isOver: () => boolean, giveUpAfterMs = 60_000): Promise<void> {
    await openLoop(rate, isOver, () => insist(this.stage.nextUrl, this.next(), giveUpAfterMs));
  }

  /** Runs the same flow during some work. */
  async during(rate: number, work: () => Promise<void>, giveUpAfterMs?: number): Promise<void> {
    let isOver = false;
    const flowing = this.flow(rate, () => isOver, giveUpAfterMs);
    try {
      await work();
    } finally {
      isOver = true;
      await flowing;
    }
  }

  /** Returns the delay from a moment to the success of the first request sent after it. */
  firstDoneAfter(moment: number): number {
    const ends = this.orders.flatMap(({ attempts }) =>
      attempts.flatMap(({ sentAt, endedAt, status }) =>
        status === 200 && sentAt >= moment ? [endedAt] : [],
      ),
    );
    return Math.min(...ends) - moment;
  }
}
