import { Behaviour } from './behaviour';
import { Database } from './database';
import { applyDueChanges } from './transactions/due-changes';
import { expireOverdue } from './transactions/status';

const EVERY_MS = 250; // unnoticed next to the seconds after which anything is due

export interface Sweeper {
  /** Ends it; a sweep that runs is finished first. */
  stop(): Promise<void>;
}

/** Changes the statuses that are due, again and again. One sweep at a time; one that fails is tried again like any other. */
export function startSweeper(database: Database, behaviour: Behaviour): Sweeper {
  let running: Promise<void> | undefined;
  let hasFailed = false; // said once, not four times a second for as long as the database is gone
  const timer = setInterval(() => {
    running ??= sweep(database, behaviour)
      .then(
        () => (hasFailed = false),
        (error: Error) => {
          // Its kind only: database errors quote values, and those are personal data.
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
  await applyDueChanges(database, new Date());
}
