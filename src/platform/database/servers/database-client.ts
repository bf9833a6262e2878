import { Client, escapeIdentifier } from 'pg';
import { StartError } from '../../config/config';
import { nameOfServer, readDatabaseUrl } from '../../config/database/database-url';
import { codeOf } from '../../errors/error-code';
import { NoServerFits } from './server-choice';
import { ServerClient } from './server-client';

/**
 * Runs work on a connection of its own.
 * @throws StartError if the database cannot be reached.
 */
export async function withConnection<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new ServerClient({ connectionString: url, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
  } catch (error) {
    throw cannotReach(url, error);
  }
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** SQLSTATE of a login that lacks a right, such as CONNECT. */
export const INSUFFICIENT_PRIVILEGE = '42501';

/** Returns the error of an unreachable database, without the password in its address. */
export function cannotReach(url: string, error: unknown): StartError {
  const { host, port, database = '', user = '' } = new ServerClient({ connectionString: url });
  const { servers } = readDatabaseUrl(url);
  const where =
    `the database ${database} at ` +
    `${servers.length > 1 ? servers.map(nameOfServer).join(', ') : `${host}:${port}`}`;
  const code = codeOf(error);
  const { message } = error as { message?: string };
  // SQLSTATEs of class 28: the server does not accept the login.
  if (code?.startsWith('28')) {
    return new StartError(
      `${where} refuses the login in its address (${code}). Check its name and password, and that the ` +
        'server has it. A backup of a single database does not contain logins.',
    );
  }
  if (code === INSUFFICIENT_PRIVILEGE) {
    return new StartError(
      `the login ${user} may not connect to ${where} (${code}). As an administrator, run in this ` +
        `database:\nGRANT CONNECT ON DATABASE ${escapeIdentifier(database)} TO ${escapeIdentifier(user)};`,
    );
  }
  const reason = error instanceof NoServerFits ? message : (code ?? message ?? 'no reason given');
  return new StartError(
    `${where} cannot be reached (${reason}). Check DATABASE_URL, and that the server is running.`,
    {
      cause: error,
    },
  );
}
