import { ClientBase } from 'pg';

/**
 * A commit without confirmation of the synchronous standby, because the wait for it was cancelled. Postgres
 * reports such a commit as successful, with a warning. A failover to the standby loses it.
 */
class NotReplicated extends Error {
  /** SQLSTATE statement_completion_unknown. */
  readonly code = '40003';
  readonly severity = 'ERROR';

  constructor() {
    super('The synchronous standby has not confirmed the commit. It might be lost at a failover.');
  }
}

/** The routine in the server's warning about the standby. The message may be in any language. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN';

/** Option for warnings of the server, even if the role or the database is set to errors only. */
export const WITH_WARNINGS = '-c client_min_messages=warning';

/** Internals of pg's client and query, which its types do not have. */
interface RunningQuery {
  _canceledDueToError: Error | false;
}
type ClientInternals = ClientBase & { _getActiveQuery: () => RunningQuery | null };

/**
 * Fails every statement of a connection whose commit might not be replicated. The warning comes before the
 * end of the statement, so it belongs to the running one. The connection needs the option `WITH_WARNINGS`.
 * @param onUnconfirmed called for each such commit.
 */
export function requireReplication(client: ClientBase, onUnconfirmed: () => void = () => undefined): void {
  client.on('notice', ({ routine }) => {
    if (routine !== WAIT_FOR_STANDBY) return;
    const query = (client as ClientInternals)._getActiveQuery();
    if (query) query._canceledDueToError = new NotReplicated();
    onUnconfirmed();
  });
}
