import { ClientBase } from 'pg';

/**
 * A commit that the synchronous standby has not confirmed, because the wait for it was cancelled. Postgres
 * reports such a commit as successful, with a warning. At a failover to the standby, it is lost.
 */
class NotReplicated extends Error {
  /** SQLSTATE statement_completion_unknown. */
  readonly code = '40003';
  readonly severity = 'ERROR';

  constructor() {
    super('The synchronous standby has not confirmed the commit. It might be lost at a failover.');
  }
}

/** The function of the server that waits for the standby. Its messages may be in any language. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN';

/**
 * Options of a connection to which the server sends warnings, even if its role or database is set to get
 * errors only.
 */
export const WITH_WARNINGS = '-c client_min_messages=warning';

/** The parts of pg's client and query that this file depends on. They are not in its types. */
interface RunningQuery {
  _canceledDueToError: Error | false;
}
type ClientInternals = ClientBase & { _getActiveQuery: () => RunningQuery | null };

/**
 * Lets every statement of a connection fail whose commit might not have been replicated. The warning comes
 * before the end of the statement, so it belongs to the one that is running. Nothing is done for other
 * statements. The connection needs the options `WITH_WARNINGS`.
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
