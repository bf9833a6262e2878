import type { Account } from '../../support/simulator/account';
import { Lie, LIES } from '../../support/simulator/lies';
import { Customer } from './habits';
import { Habit, HABITS, kindOf, nameOf, newRecipient, Order, wantedBy } from './orders';
import { atMost, SimulatedWorld } from './world';

/** Orders of one account. More would open the circuits of the proxy, which then sends less. */
const ORDERS_PER_ACCOUNT = 40;

/** Distributes lies among accounts. A lie about lists or times is that of a whole account. */
export function groupsOf(names: readonly string[], { habits, orders }: Size): string[][] {
  const groups = new Map<string, string[]>();
  for (const name of names) {
    const { listing, form } = lieOf(name);
    const key = listing ?? form?.time ?? '';
    groups.set(key, [...(groups.get(key) ?? []), name]);
  }
  const most = Math.ceil(ORDERS_PER_ACCOUNT / (habits * orders));
  return [...groups.values()].flatMap((group) => chunksOf(group, most));
}

function chunksOf<Value>(values: readonly Value[], size: number): Value[][] {
  const count = Math.ceil(values.length / size);
  return Array.from({ length: count }, (_, nth) => values.slice(nth * size, (nth + 1) * size));
}

function lieOf(name: string): Lie {
  const lie = LIES[name];
  if (!lie) throw new Error(`no lie is named ${name}`);
  return lie;
}

/** The lie of a whole account that has these lies. */
export function houseLie(group: readonly string[]): Account['lie'] {
  const { listing, form } = lieOf(group[0] ?? '');
  return { ...(listing && { listing }), ...(form?.time && { form: { time: form.time } }) };
}

/** Number of clients at each lie, by habit, and of the orders of each. */
export interface Size {
  habits: number;
  orders: number;
}

/** Creates clients of some habits for each lie. If not of all, the habits take turns. */
export async function customersOf(
  world: SimulatedWorld,
  groups: string[][],
  { habits, orders }: Size,
): Promise<Customer[]> {
  const wanted = groups.flatMap((group, place) =>
    group.flatMap((lie, nth) =>
      Array.from({ length: habits * orders }, (_, count) => {
        const [turn, index] = [count % habits, Math.floor(count / habits)];
        const habit = HABITS[(turn + nth * habits) % HABITS.length] as Habit;
        const account = world.accounts[place] as Account;
        return { account, lie, habit, nth: nth + turn + index, index };
      }),
    ),
  );
  const customers: Customer[] = [];
  await atMost(8, wanted, async (one) => void customers.push(await customerOf(world, one)));
  return customers;
}

/** @param nth varies the kind and the behaviour. */
async function customerOf(
  world: SimulatedWorld,
  {
    account,
    lie: name,
    habit,
    nth,
    index,
  }: Pick<Order, 'account' | 'lie' | 'habit'> & { nth: number; index: number },
): Promise<Customer> {
  const kind = kindOf(nth);
  const lie = lieOf(name);
  const items = Array.from(
    { length: lie.items ?? (Math.floor(nth / 2) % 2 === 0 ? 1 : 3) },
    (_, position) => ({
      recipient: newRecipient(kind),
      usd: Number((1.254 + index * 0.1 + position * 0.37).toFixed(3)),
    }),
  );
  const client = await world.client(account, `${name}-${habit}-${index}`, 'pay', 'read');
  if (habit === 'equal') {
    const cap = items.reduce((sum, { usd }) => sum + usd, 0) * (wantedBy(habit) + 0.3);
    const sql = 'UPDATE client SET daily_cap_usd = $2 WHERE id = $1';
    await world.database.query(sql, [client.id, cap.toFixed(2)]);
  }
  for (const { recipient } of items) {
    const [isLasting, variant] = [Math.floor(nth / 3) % 2 === 0, nth + Math.floor(nth / 3)];
    account.plan(nameOf(recipient), { lie, isLasting, variant });
  }
  return new Customer(world, { account, lie: name, habit, kind, items, wanted: wantedBy(habit), client });
}
