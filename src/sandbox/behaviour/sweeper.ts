import { Database, Work } from '../database';
import { Refusal } from '../http/envelope';
import { entryFor, moneyUnder, moveMoney } from '../transactions/money';
import { expireOverdue, changeStatus } from '../transactions/status';
import { Behaviour } from './behaviour';

const EVERY_MS = 250; // Negligible beside the seconds after which a change is due.

interface Sweeper {
  /** Stops the sweeper, after the sweep in progress. */
  stop(): Promise<void>;
}

/** Applies due status changes, again and again. One sweep runs at a time, and a failed one is tried again. */
export function startSweeper(database: Database, behaviour: Behaviour): Sweeper {
  let running: Promise<void> | undefined;
  let hasFailed = false; // Logged once, and not four times a second while the database is unavailable.
  const timer = setInterval(() => {
    running ??= sweep(database, behaviour)
      .then(
        () => (hasFailed = false),
        (error: Error) => {
          // Only the kind, because database errors quote values, which are personal data.
          if (!hasFailed)
            process.stderr.write(`sandbox: the changes of status that are due failed: ${error.name}\n`);
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

const AT_ONCE = 100; // The limit of one pass, so that it ends.

/** Applies the status changes that are due at `now`. */
export async function applyDueChanges(database: Database, behaviour: Behaviour, now: Date): Promise<void> {
  const due = { where: { dueAt: { lte: now } }, orderBy: { dueAt: 'asc' }, take: AT_ONCE } as const;
  for (const { transactionId } of await database.dueChange.findMany(due))
    await database
      .$transaction((work) => applyDueChange(work, transactionId, behaviour))
      .catch(async (error: unknown) => {
        // The wallet that would give the money back has spent it. The transaction stays as it is.
        if (!(error instanceof Refusal)) throw error;
        await database.dueChange.deleteMany({ where: { transactionId } });
      });
}

/**
 * Applies one change, once, even if two sandboxes share a database: the one that deletes the row makes it.
 */
async function applyDueChange(work: Work, transactionId: string, { returnsFee }: Behaviour): Promise<void> {
  const [due] = await work.$queryRaw<{ from: string; to: string }[]>`
    DELETE FROM due_changes WHERE transaction_id = ${transactionId}
      RETURNING from_status AS from, to_status AS to`;
  if (!due) return;
  // A transaction that its recipient has redeemed meanwhile stays redeemed, because its value is gone.
  const [changed] = await changeStatus(work, [transactionId], due);
  const money = changed && moneyUnder(due.to, changed);
  if (money)
    await moveMoney(work, changed, { to: money, description: entryFor(changed, due.to), returnsFee });
}
