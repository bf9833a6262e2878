import { customersOf, groupsOf, houseLie, Size } from './groups';
import type { Customer } from './habits';
import { compare, Difference } from './oracle';
import { atMost, SimulatedWorld } from './world';

/** Clients that act at the same time. */
const CLIENTS_AT_ONCE = 24;

/** Rounds after the lists are current. Nothing should change after the first. */
const LAST_ROUNDS = 2;

/**
 * Lets clients pay at accounts that lie, while the worker resolves, follows and reconciles. The upstream's
 * lists are current in the end.
 * @param names of the lies.
 * @returns the differences between the proxy and the upstream's own ledgers.
 */
export async function play(names: readonly string[], size: Size): Promise<Difference[]> {
  const groups = groupsOf(names, size);
  const world = await SimulatedWorld.start(groups.map(houseLie));
  try {
    const customers = await customersOf(world, groups, size);
    await payAndResolve(world, customers);
    await becomeCurrent(world);
    await world.reconcile();
    await settle(world);
    return await compare(
      world,
      customers.map(({ order }) => order),
    );
  } finally {
    await world.close();
  }
}

/** The clients act before each quiet period ends, after it, and after each change of the payments. */
async function payAndResolve(world: SimulatedWorld, customers: Customer[]): Promise<void> {
  const act = () => atMost(CLIENTS_AT_ONCE, customers, (customer) => customer.act());
  await act();
  await world.round();
  await act();
  for (const period of ['short', 'full'] as const) {
    drain(world, false);
    world.endQuiet(period);
    await settle(world);
    await act();
  }
  for (;;) {
    const changed = world.accounts.filter((account) => account.advance());
    if (changed.length === 0) return;
    await settle(world, changed);
    await act();
  }
}

/** Ends all lies about what happened. Nobody pays any more. */
async function becomeCurrent(world: SimulatedWorld): Promise<void> {
  for (const account of world.accounts) account.isCurrent = true;
  drain(world, true);
  for (let nth = 0; nth < LAST_ROUNDS; nth += 1) {
    for (const account of world.accounts) while (account.advance());
    await settle(world);
  }
}

/**
 * Runs a round after the queues have ended and other clients have paid, which shows how current the lists
 * are.
 */
async function settle(world: SimulatedWorld, accounts = world.accounts): Promise<void> {
  drain(world, false);
  await world.bystandersPay(accounts);
  await world.round(accounts);
}

function drain({ accounts }: SimulatedWorld, isLate: boolean): void {
  for (const account of accounts) account.drain(isLate);
}
