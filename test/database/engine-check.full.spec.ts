import { Client } from 'pg';
import { StartError } from '../../src/platform/config/config';
import { requireEngine, requireSessionLocks } from '../../src/platform/database/checks/engine-check';
import { prepareDatabase } from '../../src/platform/database/checks/prepare-database';
import { LOCKS } from '../../src/platform/database/locks';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { runCli } from '../support/processes/cli';
import { removeDataDir } from '../support/processes/data-dir';
import { newDataDir } from '../support/processes/process';

/** Functions of the catalog belong to one database, so a test may take them from its own. */
const GONE = 'ALTER FUNCTION pg_catalog.pg_control_system() RENAME TO pg_control_system_of_others';
const DENIED = 'REVOKE EXECUTE ON FUNCTION pg_walfile_name(pg_lsn) FROM PUBLIC';

/** As an engine does that has the function only for programs that call it. */
const IGNORED = `ALTER FUNCTION pg_catalog.pg_try_advisory_lock(integer,
  integer) RENAME TO pg_try_advisory_lock_of_others;
  CREATE FUNCTION pg_catalog.pg_try_advisory_lock(integer,
    integer) RETURNS boolean LANGUAGE sql AS 'SELECT true'`;

/** The same, but it does keep a lock, for everybody at once: a pooler lends one session to several. */
const SHARED = `ALTER FUNCTION pg_catalog.pg_try_advisory_lock(integer,
  integer) RENAME TO pg_try_advisory_lock_of_others;
  CREATE FUNCTION pg_catalog.pg_try_advisory_lock(integer, integer) RETURNS boolean LANGUAGE sql AS
    'SELECT pg_try_advisory_lock_shared($1, $2)'`;

/** It keeps a lock for one session, under another number than it was asked for. */
const HIDDEN = `ALTER FUNCTION pg_catalog.pg_try_advisory_lock(integer,
  integer) RENAME TO pg_try_advisory_lock_of_others;
  CREATE FUNCTION pg_catalog.pg_try_advisory_lock(integer, integer) RETURNS boolean LANGUAGE sql AS
    'SELECT pg_try_advisory_lock_of_others($1 + 1, $2)'`;

describe('a database server', () => {
  let database: TestDatabase;

  beforeEach(async () => (database = await createTestDatabase()));
  afterEach(() => database.close());

  const reason = (check: Promise<unknown>) =>
    check.then(
      () => 'it can be used',
      (error: unknown) => {
        expect(error).toBeInstanceOf(StartError);
        return (error as Error).message;
      },
    );
  const asLogins = () => ({
    databaseUrl: database.url,
    databaseOwnerUrl: database.ownerUrl,
    databaseSealerUrl: undefined,
  });

  it('is accepted if it is complete', async () => {
    await requireEngine(database.ownerUrl);
    await requireSessionLocks(database.url);
    const { rows } = await withClient((client) =>
      client.query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = ${LOCKS.probe}`),
    );
    expect(rows).toEqual([]); // the check leaves no lock behind
  });

  it('is refused without a function, with the feature that needs it', async () => {
    await database.query(GONE);
    const line = await reason(prepareDatabase(asLogins(), true));
    expect(line).toMatch(
      new RegExp(
        '^the database server cannot be used\\. It lacks the identity of the server: it may not execute ' +
          'pg_control_system\\(\\)\\. It reports itself as PostgreSQL \\d',
      ),
    );
  });

  it('is refused without the right to execute a function', async () => {
    await database.query(DENIED);
    const line = await reason(requireEngine(database.ownerUrl));
    expect(line).toContain('It lacks the identity of the server: it may not execute pg_walfile_name().');
  });

  it.each([
    ['that ignores advisory locks', IGNORED],
    ['whose sessions share advisory locks', SHARED],
    ['that does not show advisory locks', HIDDEN],
  ])('is refused %s', async (_, change) => {
    await database.query(change);
    const line = await reason(prepareDatabase(asLogins(), true));
    expect(line).toMatch(
      /^the database does not keep advisory locks for a session, .*pooler in transaction mode/,
    );
  });

  it.each([
    [['database', 'status'], 1, IGNORED, /does not keep advisory locks/],
    [['database', 'status'], 1, GONE, /may not execute pg_control_system\(\)/],
    [['database', 'migrate'], 1, GONE, /may not execute pg_control_system\(\)/],
    [['database', 'status'], 0, 'SELECT 1', /^$/],
  ])('is checked by %p, which ends with %i', async (command, exitCode, change, said) => {
    await database.query(change);
    const folder = newDataDir();
    const env = { DATABASE_URL: database.url, DATABASE_OWNER_URL: database.ownerUrl, DATA_DIR: folder };
    const { code, stderr } = await runCli(command, env, folder);
    removeDataDir(folder);
    expect([code, stderr]).toEqual([exitCode, expect.stringMatching(said)]);
  });

  async function withClient<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }
});
