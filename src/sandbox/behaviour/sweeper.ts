import { Database, Work } from '../database';
import { Refusal } from '../http/envelope';
import { entryFor, moneyUnder, moveMoney } from '../transactions/money';
import { expireOverdue, changeStatus } from '../transactions/status';
import { Behaviour } from './behaviour';

const EVERY_MS = 250; // Negligible against the seconds after which a change is due.

interface Sweeper {
  /** Stops after the sweep in progress. */
  stop(): Promise<void>;
}

/** Applies due status changes repeatedly. One sweep runs at a time. A failed sweep is repeated. */
export function startSweeper(database: Database, behaviour: Behaviour): Sweeper {
  let running: Promise<void> | undefined;
  let hasFailed = false; // Limits the log to one line per outage of the database.
  const timer = setInterval(() => {
    running ??= sweep(database, behaviour)
      .then(
        () => (hasFailed = false),
        (error: Error) => {
          // Only the kind: database errors quote values, which are personal data.
          if (!hasFailed) process.stderr.write(`sandbox: due status changes failed: ${error.name}\n`);
          hasFailed = true;
        },
      )
      .then(() => (running = undefined));
  }, EVERY_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

async function sweep(database: Database, behaviour: Behaviour): Promise<void> {
  await expireOverdue(database, behaviour);
  await applyDueChanges(database, behaviour, new Date());
}

const AT_ONCE = 100;

/** Applies the status changes that are due at `now`, at most {@link AT_ONCE}. */
export async function applyDueChanges(database: Database, behaviour: Behaviour, now: Date): Promise<void> {
  const due = { where: { dueAt: { lte: now } }, orderBy: { dueAt: 'asc' }, take: AT_ONCE } as const;
  for (const { transactionId } of await database.dueChange.findMany(due))
    await database
      .$transaction((work) => applyDueChange(work, transactionId, behaviour))
      .catch(async (error: unknown) => {
        // The wallet has already spent the money, so the transaction stays as it is.
        if (!(error instanceof Refusal)) throw error;
        await database.dueChange.deleteMany({ where: { transactionId } });
      });
}

/** Applies one change, once, even if two sandboxes share a database: the one that deletes the row. */
async function applyDueChange(work: Work, transactionId: string, { returnsFee }: Behaviour): Promise<void> {
  const [due] = await work.$queryRaw<{ from: string; to: string }[]>`
    DELETE FROM due_changes WHERE transaction_id = ${transactionId}
    RETURNING from_status AS from, to_status AS to`;
  if (!due) return;
  // A transaction that was redeemed meanwhile stays redeemed, because its value is gone.
  const [changed] = await changeStatus(work, [transactionId], due);
  const money = changed && moneyUnder(due.to, changed);
  if (money)
    await moveMoney(work, changed, { to: money, description: entryFor(changed, due.to), returnsFee });
}
