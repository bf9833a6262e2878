import { escapeIdentifier } from 'pg';
import { StartError } from '../config/config';

/** SQLSTATE of a login that lacks a right, such as CONNECT. */
export const INSUFFICIENT_PRIVILEGE = '42501';

/** Returns an error that says which database cannot be reached and why, without the password in its address. */
export function cannotReach(url: string, error: unknown): StartError {
  const { hostname, port, pathname, username } = new URL(url);
  const { code, message } = error as { code?: string; message?: string };
  // SQLSTATEs of class 28: the server does not accept the login.
  if (code?.startsWith('28')) {
    return new StartError(
      `the database ${pathname.slice(1)} at ${hostname}:${port || '5432'} refuses the login in its address (${code}). Check its name and password, and that the server has it. A backup of a single database does not contain logins.`,
    );
  }
  if (code === INSUFFICIENT_PRIVILEGE) {
    return new StartError(
      `the login ${decodeURIComponent(username)} may not connect to the database ${pathname.slice(1)} at ${hostname}:${port || '5432'} (${code}). As an administrator, run in this database:\nGRANT CONNECT ON DATABASE ${escapeIdentifier(pathname.slice(1))} TO ${escapeIdentifier(decodeURIComponent(username))};`,
    );
  }
  return new StartError(
    `the database ${pathname.slice(1)} at ${hostname}:${port || '5432'} cannot be reached (${code ?? message ?? 'no reason given'}). Check DATABASE_URL, and that the server is running.`,
  );
}
