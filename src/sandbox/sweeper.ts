import { Behaviour } from './behaviour';
import { Database } from './database';
import { applyDueChanges } from './transactions/due-changes';
import { expireOverdue } from './transactions/status';

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
          if (!hasFailed) process.stderr.write(`sandbox: the changes of status that are due failed: ${error.name}\n`);
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
