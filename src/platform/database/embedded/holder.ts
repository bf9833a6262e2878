import { existsSync, readFileSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { StartError } from '../../config/config';
import { writePrivateJson } from '../../config/secrets/private-file';

/** Who holds the lock of a DATA_DIR. The file beside the lock says it to others, and only its owner may read it. */
export interface Holder {
  pid: number;
  /** A container has process IDs of its own, and a host name too. */
  host: string;
  /** When the lock was taken. ISO 8601. */
  since: string;
  /** Whether the holder runs the embedded Postgres, so that commands can join it. */
  embedded_postgres: boolean;
  /** Where the proxy serves. Null while it starts, and for a command. */
  url: string | null;
}

export function thisProcess(embeddedPostgres: boolean): Holder {
  const since = new Date().toISOString();
  return { pid: process.pid, host: hostname(), since, embedded_postgres: embeddedPostgres, url: null };
}

/** Replaces the file. A holder that cannot write it still holds the lock. */
export function writeHolder(file: string, holder: Holder): void {
  try {
    writePrivateJson(file, holder);
  } catch {
    removeHolder(file); // others then say that they do not know who it is
  }
}

export function removeHolder(file: string): void {
  rmSync(file, { force: true });
}

/** @returns undefined if the holder has not written it yet, or runs as another user. */
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
    ? `: process ${holder.pid} on host ${holder.host}, since ${holder.since}, ${holder.url ? `at ${holder.url}` : 'not serving yet'}`
    : '';
  return new StartError(
    `another payout-proxy already uses ${dataDir}${who}. Stop it, or set DATA_DIR to another folder.`,
  );
}
