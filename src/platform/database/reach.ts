import { StartError } from '../config/config';

/** Returns an error that says which database cannot be reached and why, without the user and password in its address. */
export function cannotReach(url: string, error: unknown): StartError {
  const { hostname, port, pathname } = new URL(url);
  const { code, message } = error as { code?: string; message?: string };
  return new StartError(
    `the database ${pathname.slice(1)} at ${hostname}:${port || '5432'} cannot be reached (${code ?? message ?? 'no reason given'}). Check DATABASE_URL, and that the server is running.`,
  );
}
