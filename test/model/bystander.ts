import { randomUUID } from 'node:crypto';
import { MAIN_ACCOUNT } from '../../src/platform/config/upstream/upstream-accounts';
import { TestDatabase } from '../support/databases/test-database';
import { createClient } from '../support/processes/fleet';
import { bodyOf, OperationName } from './bodies';
import { within } from './checks/inconclusive';
import { SIMULATED_ACCOUNTS } from './upstream';
import type { World } from './world';

/** Number of all requests of bystanders. Schedules have greater ones. */
export const BYSTANDER = 0;

const KINDS: OperationName[] = [
  'POST /payouts/airtime',
  'POST /payouts/mobile-money',
  'POST /payouts/credit',
  'POST /account/transfer',
];

const REQUEST = { items: 1, magic: null } as const;
const SIMULATED = { person: 'own', lie: null, isLasting: false } as const;

/** A client that pays for no schedule. */
export interface Bystander {
  key: string;
  isSimulated: boolean;
}

/** Creates one for each account. */
export async function createBystanders(database: TestDatabase): Promise<Bystander[]> {
  const bystanders: Bystander[] = [];
  for (const account of [MAIN_ACCOUNT, ...SIMULATED_ACCOUNTS]) {
    const { key } = await createClient(database, `bystander-${account}`, ['pay', 'account'], { account });
    bystanders.push({ key, isSimulated: account !== MAIN_ACCOUNT });
  }
  return bystanders;
}

/** Pays by other clients with every kind, which shows how current the lists of the upstream are. */
export async function bystandersPay(world: World): Promise<void> {
  await Promise.all(
    world.keys.bystanders.flatMap((bystander) =>
      KINDS.map((operation) => payOnce(world, bystander, operation)),
    ),
  );
}

async function payOnce(
  world: World,
  { key, isSimulated }: Bystander,
  operation: OperationName,
): Promise<void> {
  let [tenths, proxy, last] = [5, 0, ''];
  await within(
    () => `${operation} of a bystander is not answered, but ${last}`,
    async () => {
      tenths += 1; // the last one may be in doubt, and block an equal one
      proxy = 1 - proxy; // one of them may be fenced
      const response = await world.ask({
        process: proxy,
        path: `/api/v0.1${operation.slice('POST '.length)}`,
        key,
        headers: { 'Idempotency-Key': randomUUID() },
        body: bodyOf({ ...REQUEST, tenths, operation, simulated: isSimulated ? SIMULATED : null }, BYSTANDER),
      });
      last = response?.text ?? 'not at all';
      return response?.status === 200;
    },
  );
}
