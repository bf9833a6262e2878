import { Client } from 'pg';
import { StartError } from '../../config/config';
import { codeOf } from '../../errors/error-code';
import { connectionOf, DatabaseUrls, LIMITS } from '../pools/pools';
import { cannotReach } from '../servers/database-client';
import { ServerClient } from '../servers/server-client';

/** SQLSTATE protocol_violation, with which a pooler refuses a start-up parameter. */
const PROTOCOL_VIOLATION = '08P01';

interface Session {
  role: string;
  login: string;
  /** In milliseconds. 0 is none. */
  statement_timeout: number;
  lock_timeout: number;
  idle_in_transaction_session_timeout: number;
  client_min_messages: string;
}

const limit = (name: string) =>
  `(SELECT setting::integer FROM pg_settings WHERE name = '${name}') AS ${name}`;

const SESSION = `SELECT current_user::text AS role, session_user::text AS login,
    current_setting('client_min_messages') AS client_min_messages,
    ${Object.keys(LIMITS).map(limit).join(', ')}`;

/** Levels of client_min_messages with which warnings arrive. See replication.ts. */
const WITH_WARNINGS = ['debug5', 'debug4', 'debug3', 'debug2', 'debug1', 'log', 'notice', 'warning'];

/**
 * Checks that no pooler strips the limits, the warnings or the role from the connections of payments.
 * engine-check.ts checks the sessions of the others.
 * @throws StartError that names the missing settings and the remedy.
 */
export async function requireConnections(settings: DatabaseUrls): Promise<void> {
  const client = new ServerClient(connectionOf(settings));
  try {
    await client.connect();
    const { rows } = await client.query<Session>(SESSION);
    const [session] = rows;
    if (!session) return;
    if (settings.databaseUrl === settings.databaseOwnerUrl && session.role !== 'payout_proxy')
      throw roleLost(session);
    const lacking = lackingIn(session);
    if (lacking.length > 0) throw limitsLost(client, session, lacking);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw codeOf(error) === PROTOCOL_VIOLATION ? refused(error) : cannotReach(settings.databaseUrl, error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Returns the missing settings of the session, in the form of ALTER ROLE. */
function lackingIn(session: Session): string[] {
  const lacking = Object.entries(LIMITS)
    .filter(
      ([name, most]) =>
        session[name as keyof typeof LIMITS] === 0 || session[name as keyof typeof LIMITS] > most,
    )
    .map(([name, most]) => `${name} = '${most}ms'`);
  if (!WITH_WARNINGS.includes(session.client_min_messages)) lacking.push(`client_min_messages = 'warning'`);
  return lacking;
}

function limitsLost(client: Client, { login }: Session, lacking: string[]): StartError {
  const statements = lacking.map((setting) => `ALTER ROLE ${client.escapeIdentifier(login)} SET ${setting};`);
  return new StartError(
    'the sessions of DATABASE_URL lack the limits that payments need, because a pooler drops start-up ' +
      'parameters. As an administrator, run the following, and let the pooler reconnect ' +
      `(RECONNECT in its console):\n${statements.join('\n')}`,
  );
}

function roleLost({ role }: Session): StartError {
  return new StartError(
    'a pooler drops the role of the connections of DATABASE_URL, so they have the rights of ' +
      `${role}. Give the proxy its own login: set DATABASE_OWNER_URL, and DATABASE_URL to a login with ` +
      'the role payout_proxy.',
  );
}

function refused(error: unknown): StartError {
  return new StartError(
    'DATABASE_URL leads through a pooler that refuses start-up parameters ' +
      `(${(error as Error).message}). Set DATABASE_SESSION_URL to an address of the server itself. ` +
      'DATABASE_URL is then used without start-up parameters.',
  );
}
