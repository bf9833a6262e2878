import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { StartError } from '../../config/config';
import { codeOf } from '../../errors/error-code';
import { withConnection } from '../servers/database-client';
import { MIGRATIONS_TABLE } from './applied-migrations';
import { Migration } from './migration-files';

/**
 * Lock timeout of a migration's statement, in ms. Other statements queue behind it, and payments give up
 * after a second (LOCK_TIMEOUT_MS in pools.ts).
 */
const LOCK_TIMEOUT_MS = 500;

/** Attempts of a migration, and the pauses in which queued statements proceed. */
export interface RetryPolicy {
  tries: number;
  pauseMs: number;
}

export const MIGRATION_RETRIES: RetryPolicy = { tries: 6, pauseMs: 1_000 };

/** SQLSTATEs of a lock that was not granted in time, and of a deadlock. A later try may succeed. */
const BLOCKED = new Set(['55P03', '40P01']);

/** A database session that holds a lock that a migration waits for. */
interface Blocker {
  pid: number;
  login: string | null;
  program: string | null;
  since: Date | null;
}

const BLOCKERS = `SELECT pid, usename AS login, application_name AS program, xact_start AS since
  FROM pg_stat_activity
  WHERE pid = ANY (pg_blocking_pids($1))
  ORDER BY xact_start NULLS LAST
  LIMIT 3`;

const LOOK_MS = 100;

/**
 * Applies one migration in a transaction. A migration that does not get its locks at once is rolled back and
 * tried again, so that payments never wait long behind it.
 * @throws StartError if it fails, or that names the sessions that blocked it.
 */
export async function applyMigration(
  url: string,
  client: Client,
  migration: Migration,
  retries: RetryPolicy,
) {
  for (let left = retries.tries; left > 1; left -= 1) {
    if (await isApplied(client, migration)) return;
    await sleep(retries.pauseMs);
  }
  let applied = false;
  const blockers = await blockersDuring(
    url,
    client,
    async () => void (applied = await isApplied(client, migration)),
  );
  if (!applied) throw blocked(migration, retries.tries, blockers);
}

/**
 * Tries once to apply a migration.
 * @returns false if other sessions hold its locks.
 */
async function isApplied(client: Client, { name, sql, checksum }: Migration): Promise<boolean> {
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await client.query(MIGRATIONS_TABLE);
    await client.query(sql); // as one script, because splitting at semicolons is not safe
    await client.query(
      'INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count) ' +
        'VALUES ($1, $2, $3, now(), 1)',
      [randomUUID(), checksum, name],
    );
    await client.query('COMMIT');
    return true;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined); // a lost connection is rolled back by the server
    if (BLOCKED.has(codeOf(error) ?? '')) return false;
    throw new StartError(`migration ${name} failed: ${(error as Error).message}`);
  }
}

/** Returns the sessions that last blocked a connection, observed on a second connection. */
async function blockersDuring(url: string, client: Client, work: () => Promise<void>): Promise<Blocker[]> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return withConnection(url, async (observer) => {
    let blockers: Blocker[] = [];
    const over = new AbortController();
    const watch = async () => {
      while (!over.signal.aborted) {
        const seen = await observer.query<Blocker>(BLOCKERS, [rows[0]?.pid]);
        if (seen.rows.length > 0) blockers = seen.rows;
        await sleep(LOOK_MS, undefined, { signal: over.signal }).catch(() => undefined); // the work is over
      }
    };
    const watching = watch().catch(() => undefined); // the migration does not depend on it
    try {
      await work();
    } finally {
      over.abort();
      await watching;
    }
    return blockers;
  });
}

function blocked({ name }: Migration, tries: number, blockers: Blocker[]): StartError {
  const sessions = blockers.map(({ pid, login, program, since }) => {
    const details = [
      `login ${login ?? 'unknown'}`,
      program,
      since && `in a transaction since ${since.toISOString()}`,
    ];
    return `process ${pid} of the database server (${details.filter(Boolean).join(', ')})`;
  });
  const cause = sessions.length > 0 ? `It was blocked by ${sessions.join(' and ')}. ` : '';
  const statements = blockers.map(({ pid }) => `SELECT pg_terminate_backend(${pid})`).join('; ');
  const remedy = statements === '' ? 'other transactions to end' : `it to end, or end it with ${statements}`;
  return new StartError(
    `the migration ${name} did not get its locks in ${tries} tries of ${LOCK_TIMEOUT_MS} ms each, because ` +
      `payments must not wait behind it. ${cause}Nothing was changed. Wait for ${remedy}, and try again.`,
  );
}
