import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { databaseCommands } from '../../src/cli/database/database';
import { Logins, requireAccess } from '../../src/platform/database/checks/access-check';
import {
  migrate,
  pendingMigrations,
  PROXY_MIGRATIONS,
} from '../../src/platform/database/migrations/migrations';
import { withConnection } from '../../src/platform/database/servers/database-client';
import { OwnPostgres, startOwnPostgres } from '../support/databases/own-postgres';
import { cliOf } from '../support/processes/cli';

const COMPLETE = 'nothing is missing';

describe('a database with missing roles and rights', () => {
  let postgres: OwnPostgres;
  let admin: Client;
  let logins: Logins;

  /** Returns the statements of the refusal, after its first line. */
  const missing = (more: Partial<Logins> = {}) =>
    requireAccess({ ...logins, ...more }).then(
      () => ({ reason: COMPLETE, statements: [] }),
      (error: Error) => {
        const [reason = '', ...statements] = error.message.split('\n');
        return { reason, statements };
      },
    );
  const heal = async (statements: string[]) => {
    for (const statement of statements) await admin.query(statement.replace('…', 'secret'));
  };
  const urlOf = (login: string) => {
    const url = new URL(postgres.database.ownerUrl);
    [url.username, url.password] = [login, 'secret'];
    return url.toString();
  };

  beforeAll(async () => {
    postgres = await startOwnPostgres();
    const { url: databaseUrl, ownerUrl: databaseOwnerUrl } = postgres.database;
    logins = { databaseUrl, databaseOwnerUrl, databaseSealerUrl: undefined };
    admin = new Client({ connectionString: databaseOwnerUrl });
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    await postgres.close();
  });

  it('is distinguished from a complete one', async () => {
    expect(await missing()).toMatchObject({ reason: COMPLETE });
    expect(await missing({ databaseUrl: logins.databaseOwnerUrl })).toMatchObject({ reason: COMPLETE });
  });

  it('is detected with logins in URL parameters', async () => {
    const asParameter = (address: string) => {
      const { username, password, host, pathname } = new URL(address);
      return `postgresql://${host}${pathname}?user=${username}&password=${password}`;
    };
    const [databaseUrl, databaseOwnerUrl] = [
      asParameter(logins.databaseUrl),
      asParameter(logins.databaseOwnerUrl),
    ];
    expect(await missing({ databaseUrl, databaseOwnerUrl })).toMatchObject({ reason: COMPLETE });
  });

  it('is refused with the missing grants, and complete after them', async () => {
    await admin.query(`REVOKE INSERT ON intent, outcome FROM payout_proxy; REVOKE SELECT ON process
      FROM payout_proxy;
      REVOKE EXECUTE ON FUNCTION make_partitions(integer) FROM payout_proxy;
      REVOKE USAGE ON SCHEMA audit FROM payout_auditor; REVOKE TEMPORARY ON DATABASE payout_proxy
        FROM payout_proxy, PUBLIC`);
    const { reason, statements } = await missing();
    expect(reason).toMatch(
      /^the database lacks 5 rights of payout_proxy, 1 right of payout_auditor\. A backup of/,
    );
    expect(statements.sort()).toEqual([
      'GRANT EXECUTE ON FUNCTION make_partitions(integer) TO payout_proxy;',
      'GRANT INSERT ON TABLE intent, outcome TO payout_proxy;',
      'GRANT SELECT ON TABLE process TO payout_proxy;',
      'GRANT TEMPORARY ON DATABASE payout_proxy TO payout_proxy;',
      'GRANT USAGE ON SCHEMA audit TO payout_auditor;',
    ]);
    await heal(statements);
    expect(await missing()).toMatchObject({ reason: COMPLETE });
  });

  it('is refused while every login may call functions with owner rights', async () => {
    await admin.query('GRANT EXECUTE ON FUNCTION make_partitions(integer), index_calls(integer) TO PUBLIC');
    const { reason, statements } = await missing();
    expect(reason).toMatch(/^the database lacks the protection of 2 functions from other logins\./);
    expect(statements).toEqual([
      'REVOKE EXECUTE ON FUNCTION index_calls(integer), make_partitions(integer) FROM PUBLIC;',
    ]);
    await heal(statements);
    expect(await missing()).toMatchObject({ reason: COMPLETE });
  });

  it('is refused if a login may not assume its role', async () => {
    await admin.query(`CREATE ROLE poor LOGIN PASSWORD 'secret'`);
    const { reason, statements } = await missing({
      databaseUrl: urlOf('poor'),
      databaseSealerUrl: urlOf('Sealer 2'),
    });
    expect(reason).toMatch(
      new RegExp(
        '^the database lacks the membership of poor in payout_proxy, the login Sealer 2, the membership of ' +
          'Sealer 2 in payout_sealer, the right of poor to connect, the right of Sealer 2 to connect\\.',
      ),
    );
    expect(statements).toEqual([
      'GRANT payout_proxy TO "poor" WITH INHERIT TRUE, SET TRUE;',
      `CREATE ROLE "Sealer 2" LOGIN PASSWORD '…';`,
      'GRANT payout_sealer TO "Sealer 2" WITH INHERIT TRUE, SET TRUE;',
      'GRANT CONNECT ON DATABASE "payout_proxy" TO "poor";',
      'GRANT CONNECT ON DATABASE "payout_proxy" TO "Sealer 2";',
    ]);
    await heal(statements);
    expect(await missing({ databaseUrl: urlOf('poor'), databaseSealerUrl: urlOf('Sealer 2') })).toMatchObject(
      {
        reason: COMPLETE,
      },
    );
  });

  it('is refused if a login may not connect', async () => {
    await admin.query(`CREATE ROLE stranger LOGIN PASSWORD 'secret'; GRANT payout_proxy TO stranger`);
    const url = urlOf('stranger');
    const grant = 'GRANT CONNECT ON DATABASE "payout_proxy" TO "stranger";';
    const { reason, statements } = await missing({ databaseUrl: url });
    expect([reason, statements]).toEqual([
      expect.stringMatching(/^the database lacks the right of stranger to connect\./),
      [grant],
    ]);
    const refused = withConnection(url, () => Promise.resolve());
    await expect(refused).rejects.toThrow(`the login stranger may not connect to the database payout_proxy`);
    await expect(withConnection(url, () => Promise.resolve())).rejects.toThrow(grant);
    await heal(statements);
    expect(await missing({ databaseUrl: url })).toMatchObject({ reason: COMPLETE });
    await withConnection(url, () => Promise.resolve());
  });

  it('is refused by the start and by database status until the statements restore its roles', async () => {
    await admin.query('DROP OWNED BY payout_proxy, payout_sealer, payout_auditor');
    await admin.query('DROP ROLE payout_proxy, payout_sealer, payout_auditor');
    const { reason, statements } = await missing();
    expect(reason).toMatch(
      /^the database lacks the role payout_proxy, the role payout_sealer, the role payout_auditor, the mem/,
    );
    expect(statements.slice(0, 3)).toEqual([
      'CREATE ROLE payout_proxy NOLOGIN;',
      'CREATE ROLE payout_sealer NOLOGIN;',
      'CREATE ROLE payout_auditor NOLOGIN;',
    ]);
    jest.replaceProperty(process, 'env', {
      ...process.env,
      DATABASE_URL: logins.databaseUrl,
      DATABASE_OWNER_URL: logins.databaseOwnerUrl,
    });
    const status = cliOf(databaseCommands)('status', '--json');
    await expect(status).rejects.toThrow('the database lacks the role payout_proxy');
    jest.restoreAllMocks();
    await heal(statements);
    expect(await missing()).toMatchObject({ reason: COMPLETE });
  });

  it('is refused if an administrator owns a restored dump, until the statements transfer it', async () => {
    const owner = new URL(postgres.database.ownerUrl).username;
    await admin.query(
      `CREATE ROLE newcomer LOGIN CREATEROLE PASSWORD 'secret'; GRANT CONNECT ON DATABASE payout_proxy ` +
        'TO newcomer',
    );
    const refusal = () =>
      pendingMigrations(urlOf('newcomer'), PROXY_MIGRATIONS).then(
        () => COMPLETE,
        ({ message }: Error) => message,
      );
    const [reason = '', ...statements] = (await refusal()).split('\n');
    expect(reason).toContain(
      `the tables of the database belong to ${owner}, and the owner's login is newcomer.`,
    );
    await heal(statements);
    expect(await refusal()).toBe(COMPLETE);
    const foreign = `SELECT relname FROM pg_class
      WHERE relnamespace IN ('public'::regnamespace, 'audit'::regnamespace)
      AND pg_get_userbyid(relowner) <> 'newcomer' UNION ALL
      SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        AND pg_get_userbyid(proowner) <> 'newcomer'`;
    expect((await admin.query(foreign)).rows).toEqual([]);
  });

  it('is left empty by a failed first migration', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'payout-proxy-failing-'));
    mkdirSync(join(directory, '1_first'));
    writeFileSync(join(directory, '1_first', 'migration.sql'), 'SELECT 1 / 0');
    await admin.query('CREATE DATABASE unfinished');
    const url = new URL(postgres.database.ownerUrl);
    url.pathname = '/unfinished';
    await expect(migrate(url.toString(), directory)).rejects.toThrow(
      'migration 1_first failed: division by zero',
    );
    const tables = await withConnection(url.toString(), (client) =>
      client.query(`SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace`),
    );
    expect(tables.rows).toEqual([]);
    rmSync(directory, { recursive: true });
  });
});
