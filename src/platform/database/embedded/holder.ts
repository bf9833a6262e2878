import { existsSync, readFileSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { StartError } from '../../config/config';
import { writePrivateJson } from '../../config/secrets/private-file';

/** The holder of a DATA_DIR's lock, published in a file next to it that only its owner may read. */
export interface Holder {
  pid: number;
  /** The host name, because each container has its own process IDs and host name. */
  host: string;
  /** Time of taking the lock. ISO 8601. */
  since: string;
  /** Whether the holder runs the embedded Postgres, which commands can join. */
  embedded_postgres: boolean;
  /** The proxy's address. Null during startup, and for a command. */
  url: string | null;
}

export function thisProcess(embeddedPostgres: boolean): Holder {
  const since = new Date().toISOString();
  return { pid: process.pid, host: hostname(), since, embedded_postgres: embeddedPostgres, url: null };
}

/** Replaces the file. A failed write does not release the lock. */
export function writeHolder(file: string, holder: Holder): void {
  try {
    writePrivateJson(file, holder);
  } catch {
    removeHolder(file); // others then report an unknown holder
  }
}

export function removeHolder(file: string): void {
  rmSync(file, { force: true });
}

/** @returns undefined if the file is missing, or belongs to another user. */
export function readHolder(file: string): Holder | undefined {
  try {
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Holder) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the error of a start on a DATA_DIR that another process uses. */
export function alreadyUsed(dataDir: string, holder: Holder | undefined): StartError {
  const who = holder
    ? `: process ${holder.pid} on host ${holder.host}, since ${holder.since}, ` +
      `${holder.url ? `at ${holder.url}` : 'not serving yet'}`
    : '';
  return new StartError(
    `another payout-proxy already uses ${dataDir}${who}. Stop it, or set DATA_DIR to another folder.`,
  );
}
