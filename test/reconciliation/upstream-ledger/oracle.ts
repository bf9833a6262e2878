import { isLive, Payment } from '../../support/simulator/ledger';
import { LIES } from '../../support/simulator/lies';
import {
  AuditedCall,
  compareStates,
  isNamedDoubt,
  ShownPayout,
  shownPayouts,
} from '../../support/simulator/shown';
import { nameOf, Order } from './orders';
import { atMost, SimulatedWorld } from './world';

/** A payout with its item. */
type OrderedPayout = ShownPayout & { recipient: string; usd: number };

/** A difference between the proxy and the ledger of the upstream. */
export interface Difference {
  lie: string;
  habit: string;
  kind: 'wrong' | 'doubt' | 'paid-too-often' | 'overspent' | 'wrong-sum';
  text: string;
}

/** Compares the final states of all payouts with the ledgers. */
export async function compare(world: SimulatedWorld, orders: Order[]): Promise<Difference[]> {
  const found: Difference[] = [];
  const calls = await callsOf(world);
  await atMost(8, orders, async (order) => {
    const shown = await payoutsOf(world, calls.get(order.client.id) ?? []);
    for (const { recipient, usd } of order.items) {
      const payments = order.account.ledger.paidTo(nameOf(recipient));
      const own = shown.filter((one) => one.recipient === recipient && one.usd === usd);
      found.push(...statesOf(order, own, payments), ...excessOf(order, recipient, payments));
    }
    found.push(...(await sumOf(world, order, shown)));
  });
  return found;
}

/** Compares the states of equal payouts, whichever is whose. */
function statesOf(order: Order, shown: ShownPayout[], payments: Payment[]): Difference[] {
  const { wrong, missing } = compareStates(shown, payments);
  const lie = LIES[order.lie];
  return wrong.flatMap((payout) => {
    // A slow machine misses the time limit of some answers that come at once. Then only the list has rows.
    const mayDoubt = lie?.mayStayInDoubt || (lie?.answer === 'success' && payout.isTimedOut);
    const isDoubt = isNamedDoubt(payout, payments);
    const truth = [...new Set(missing)].join('|') || 'none';
    const text = `${payout.state} for ${truth}${payout.reason === null ? '' : ` (${payout.reason})`}`;
    return isDoubt && mayDoubt ? [] : differenceIn(order, isDoubt ? 'doubt' : 'wrong', text);
  });
}

/** Finds requests that paid a recipient who had got everything that the client wanted. */
function excessOf(order: Order, recipient: string, payments: Payment[]): Difference[] {
  if (LIES[order.lie]?.unknowable) return [];
  return payments
    .filter(({ alreadyPaid, isSurplus }) => !isSurplus && alreadyPaid + 1 > order.wanted)
    .map(({ alreadyPaid }) =>
      differenceIn(order, 'paid-too-often', `${recipient} got ${alreadyPaid + 1} of ${order.wanted}`),
    );
}

/** Compares the sum that counts on the cap with the money that has left the wallets. */
async function sumOf(world: SimulatedWorld, order: Order, shown: OrderedPayout[]): Promise<Difference[]> {
  const live = order.items.flatMap(({ recipient }) =>
    order.account.ledger.paidTo(nameOf(recipient)).filter((payment) => !payment.isSurplus && isLive(payment)),
  );
  const isOpen = shown.some(({ state }) => state === 'in_doubt');
  // the fee of a payout in doubt is not known
  const feeOf = (payment: Payment) => (isOpen ? 0 : order.account.feeOf(payment));
  const paid = live.reduce((sum, payment) => sum + payment.usd + feeOf(payment), 0);
  const limits = await world.get('/v1/limits', order.client.key);
  const spent = Number((limits.daily as { spent_usd: string }).spent_usd);
  const text = `${spent} of ${paid.toFixed(3)}`;
  if (spent < paid - 1e-6) return [differenceIn(order, 'overspent', text)];
  return spent > paid + 1e-6 && !isOpen ? [differenceIn(order, 'wrong-sum', text)] : [];
}

function differenceIn({ lie, habit }: Order, kind: Difference['kind'], text: string): Difference {
  return { lie, habit, kind, text };
}

/** Returns the IDs of all calls by client. */
async function callsOf({ database }: SimulatedWorld): Promise<Map<string, string[]>> {
  const sql = 'SELECT client_id::text, array_agg(id::text ORDER BY id) AS ids FROM intent GROUP BY client_id';
  const rows = await database.query<{ client_id: string; ids: string[] }>(sql);
  return new Map(rows.map(({ client_id: client, ids }) => [client, ids]));
}

async function payoutsOf(world: SimulatedWorld, ids: string[]): Promise<OrderedPayout[]> {
  const payouts: OrderedPayout[] = [];
  for (const id of ids) payouts.push(...toPayouts((await world.get(`/v1/audit/calls/${id}`)) as never));
  return payouts;
}

type OrderedCall = AuditedCall & {
  items: { amount_usd: string; recipient: Record<string, string | null> }[];
};

function toPayouts(call: OrderedCall): OrderedPayout[] {
  if (call.outcome === 'refused') return [];
  return shownPayouts(call).map((payout, position) => {
    const { amount_usd: usd, recipient } = call.items[position] as OrderedCall['items'][number];
    return { ...payout, usd: Number(usd), recipient: recipient.email ?? recipient.phone ?? '' };
  });
}

/** Returns a table of differences: one line for each lie and kind, with its habits and an example. */
export function tableOf(differences: Difference[]): string {
  const lines = new Map<string, { count: number; habits: Set<string>; texts: Map<string, number> }>();
  for (const { lie, habit, kind, text } of differences) {
    const key = `${lie.padEnd(24)} ${kind.padEnd(14)}`;
    const line = lines.get(key) ?? { count: 0, habits: new Set(), texts: new Map() };
    lines.set(key, line);
    line.count += 1;
    line.habits.add(habit);
    line.texts.set(text, (line.texts.get(text) ?? 0) + 1);
  }
  return [...lines]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([key, { count, habits, texts }]) => {
      const [[text] = ['']] = [...texts].sort((one, other) => other[1] - one[1]);
      return `${key} ${String(count).padStart(4)}  ${[...habits].join(',')}  ${text}`;
    })
    .join('\n');
}
