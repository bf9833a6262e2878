import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { ClientBase } from 'pg';

/** A process with it gets about a tenth of a core that others want, and all of a core that is free. See nice(1). */
const NICENESS = 10;

/** What pg knows of a connection. Its types do not have these members. */
interface Connected {
  processID: number | null;
  connection: { stream: { localPort?: number } };
}

/**
 * Lets the server's process of a connection give way to others on the machine, if it runs on this one. With an embedded
 * Postgres, a long read would otherwise take a core from payments. Postgres has no setting for that.
 */
export function lowerPriority(client: ClientBase): void {
  const { processID, connection } = client as unknown as Connected;
  const { localPort } = connection.stream;
  if (processID === null || localPort === undefined) return;
  try {
    // On another machine, or in a container, the number is of some other process, whose title has not our port.
    const title = readFileSync(`/proc/${processID}/cmdline`, 'utf8');
    if (title.startsWith('postgres: ') && title.includes(`(${localPort})`)) setPriority(processID, NICENESS);
  } catch {
    // It runs elsewhere, or as a user whose processes this one may not change.
  }
}
