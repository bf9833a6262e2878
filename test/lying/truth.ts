import { Decimal } from 'decimal.js';
import type { CallRecord } from '../support/http/api';
import { Customer, Order } from './customer';
import { LyingWorld, Transaction } from './world';

const COUNTS = ['reserved', 'in_doubt', 'pending', 'paid'];
const ENDS: Record<string, string> = { fraud: 'failed', expired: 'failed' };

/** A payout in the API, with its true state. */
export interface ComparedState {
  customer: Customer;
  order: Order;
  callId: string;
  /** Outcome of the call. */
  outcome: string;
  place: number;
  state: string;
  next: string;
  usd: Decimal;
  /** The fee that counts: real or expected. */
  feeUsd: Decimal;
  truth: string;
  transaction: Transaction | undefined;
}

export async function compare(world: LyingWorld, customers: Customer[]): Promise<ComparedState[]> {
  const transactions = await world.transactions();
  const compared: ComparedState[] = [];
  for (const customer of customers) {
    for (const order of customer.orders) {
      for (const { id, places, chiRefs } of order.calls) {
        const call = (await world.get(customer.key, `/v1/calls/${id}`)).body as unknown as CallRecord;
        const { items, outcome } = call;
        for (const [position, place] of places.entries()) {
          const transaction = transactions.get(chiRefs[position] ?? '');
          const {
            state,
            next,
            amount_usd: usd,
            fee_usd: fee,
            expected_fee_usd: expected,
          } = items[position] ?? {};
          compared.push({
            customer,
            order,
            callId: id,
            outcome,
            place,
            transaction,
            state: state ?? 'none',
            next: next ?? 'none',
            usd: new Decimal(usd ?? 0),
            feeUsd: new Decimal(fee ?? expected ?? 0),
            truth: stateOf(transaction),
          });
        }
      }
    }
  }
  return compared;
}

export function isPaid(transaction: Transaction | undefined): boolean {
  return transaction !== undefined && transaction.truth.money !== 'kept';
}

/** Returns the violations of invariants: people paid twice, and wrong sums. */
export async function wrongAtAnyTime(
  world: LyingWorld,
  customers: Customer[],
  all: ComparedState[],
): Promise<string[]> {
  const wrong: string[] = [];
  for (const customer of customers) {
    const own = all.filter((one) => one.customer === customer);
    for (const order of customer.orders) {
      for (const place of order.items.keys()) {
        const made = own.filter((one) => one.order === order && one.place === place && one.transaction);
        const most = 1 + (order.allowed[place] ?? 0);
        const paid = made.filter(({ transaction }) => isPaid(transaction)).length;
        if (paid > 1) wrong.push(`${nameOf(customer, order, place)} was paid ${paid} times`);
        if (made.length > most) wrong.push(`${nameOf(customer, order, place)} was made ${made.length} times`);
      }
    }
    const counted = own.filter(({ state }) => COUNTS.includes(state));
    const right = counted.reduce((sum, { usd, feeUsd }) => sum.plus(usd).plus(feeUsd), new Decimal(0));
    const spent = await spendingOf(world, customer);
    if (!right.eq(spent))
      wrong.push(`${customer.habit}: ${spent.toFixed()} counts as spent, not ${right.toFixed()}`);
  }
  return wrong;
}

/** Returns the payouts with a wrong state. */
export function differing(all: ComparedState[]): ComparedState[] {
  return all.filter(({ state, truth }) => state !== truth);
}

/** Returns the calls in doubt without a payout in doubt. */
export function doubtfulForNothing(all: ComparedState[]): string[] {
  const inDoubt = new Set(all.filter(({ state }) => state === 'in_doubt').map(({ callId }) => callId));
  const unknown = all.filter(({ callId, outcome }) => outcome === 'unknown' && !inDoubt.has(callId));
  return [...new Set(unknown.map(({ callId }) => callId))];
}

/** Returns a client's true payments, with the fees that the upstream shows. */
export function reallyPaid(world: LyingWorld, all: ComparedState[], customer: Customer): Decimal {
  return all
    .filter((one) => one.customer === customer && isPaid(one.transaction))
    .reduce((sum, { transaction }) => {
      const change = new Decimal(transaction?.truth.walletChange ?? 0).neg();
      return sum.plus(change).minus(world.hiddenFees.get(transaction?.chiRef ?? '') ?? 0);
    }, new Decimal(0));
}

async function spendingOf(world: LyingWorld, { id }: Customer): Promise<Decimal> {
  const sql = 'SELECT coalesce(sum(usd), 0)::text AS usd FROM spending WHERE client_id = $1';
  return new Decimal((await world.proxy.database.query<{ usd: string }>(sql, [id]))[0]?.usd ?? 0);
}

export function nameOf({ habit }: Customer, { kind, items }: Order, place: number): string {
  const item = items[place];
  return `${habit}: ${kind} of ${item?.usd} to ${item?.who} (item ${place} of ${items.length})`;
}

function stateOf(transaction: Transaction | undefined): string {
  if (!transaction) return 'not_executed';
  const { status } = transaction.truth;
  return ENDS[status] ?? status;
}
