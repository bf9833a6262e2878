import { Order } from './orders';
import { Payments } from './payments';
import { countAnswers, inSeconds, quantile, whole } from './scenario';
import { Stage } from './stage';

/** The promise is two seconds. The machine may be busy. */
const REFUSED_WITHIN_MS = 3_000;

const PAYING_AGAIN_WITHIN_MS = 5_000;

/** A period of refused payments, in milliseconds of performance.now(). */
export interface Span {
  from: number;
  until: number;
}

/** Answers during refusals, their outcomes, and the time until payments resumed. */
export interface Refusals {
  sent: number;
  seen: string[];
  broken: string[];
}

/**
 * Judges the answers to requests sent in some spans. Call it before any retry.
 * @param what the cause of the spans and their end: "Postgres was frozen", "the thaw".
 */
export async function refusalsIn(
  stage: Stage,
  payments: Payments,
  spans: Span[],
  what: { happened: string; ended: string },
): Promise<Refusals> {
  const during = sentIn(payments.orders, spans);
  const refused = during.filter(({ attempts: [first] }) => first?.status === 503);
  const waits = refused.map(({ attempts: [first] }) => (first ? first.endedAt - first.sentAt : 0));
  const worst = waits.reduce((most, wait) => Math.max(most, wait), 0);
  const arrived = new Set((await stage.upstream.arrivals()).map(({ body }) => JSON.stringify(body)));
  const sentLater = refused.filter(({ body }) => arrived.has(JSON.stringify(body)));
  const again = Math.max(...spans.map(({ until }) => payments.firstDoneAfter(until)));
  const { happened, ended } = what;
  return {
    sent: during.length,
    seen: [
      `answers meanwhile: ${countAnswers(during)}`,
      `refusals took ${inSeconds(quantile(waits, 0.5))} (median), ${inSeconds(quantile(waits, 0.99))} ` +
        `(p99), ${inSeconds(worst)} at worst`,
      `${sentLater.length} of ${whole(refused.length)} refused payments were sent later`,
      `paying again ${inSeconds(again)} after ${ended}${spans.length > 1 ? ' at worst' : ''}`,
    ],
    broken: [
      ...(refused.length === 0 ? [`no payment was refused while ${happened}`] : []),
      ...(worst > REFUSED_WITHIN_MS ? [`a refusal took ${inSeconds(worst)} while ${happened}`] : []),
      ...(sentLater.length > 0 ? [`${sentLater.length} payments were sent although their apps got 503`] : []),
      ...(again > PAYING_AGAIN_WITHIN_MS ? [`payments went on only ${inSeconds(again)} after ${ended}`] : []),
    ],
  };
}

/** Returns the orders first sent within one of the spans. */
export function sentIn(orders: Order[], spans: Span[]): Order[] {
  return orders.filter(({ attempts: [first] }) =>
    spans.some(({ from, until }) => first !== undefined && first.sentAt >= from && first.sentAt < until),
  );
}
