import { Client } from 'pg';
import { StartError } from '../../config/config';
import { withConnection } from '../servers/database-client';
import { ServerClient } from '../servers/server-client';
import { Right, rightsIn, Role, ROLES } from './rights';

/** Addresses of logins that need roles. */
export interface Logins {
  databaseUrl: string;
  databaseOwnerUrl: string;
  databaseSealerUrl: string | undefined;
}

/** Missing access, with the statements that restore it. */
interface MissingAccess {
  descriptions: string[];
  statements: string[];
}

/** Rights that one statement grants. */
interface Grant {
  role: Role;
  kind: Right['kind'];
  rights: string;
  names: string;
  count: number;
}

/**
 * SQL: the given rights that their role lacks, by statement. Omits objects of pending migrations. A missing
 * role lacks everything, because the privilege functions return null for it.
 */
const LACKING = `WITH wanted AS (
    SELECT w.*, (SELECT oid FROM pg_roles WHERE rolname = w.role) AS role_oid
    FROM jsonb_to_recordset($1) AS w (role text, "right" text, kind text, name text)
  ), object AS (
    SELECT 'TABLE' AS kind,
      CASE nspname WHEN 'public' THEN relname ELSE nspname || '.' || relname END AS name, c.oid
    FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
    WHERE nspname IN ('public', 'audit') AND relkind IN ('r', 'p', 'v')
    UNION ALL
    SELECT 'FUNCTION', oid::regprocedure::text, oid FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT 'SCHEMA', nspname, oid FROM pg_namespace
    UNION ALL SELECT 'DATABASE', datname, oid FROM pg_database
  ), lacking AS (
    SELECT w.role, w.kind, w.name, string_agg(w."right", ', ') AS rights, count(*) AS count
    FROM wanted w JOIN object o USING (kind, name)
    WHERE NOT coalesce(CASE w.kind
      WHEN 'TABLE' THEN has_table_privilege(role_oid, o.oid, w."right")
      WHEN 'FUNCTION' THEN has_function_privilege(role_oid, o.oid, w."right")
      WHEN 'SCHEMA' THEN has_schema_privilege(role_oid, o.oid, w."right")
      ELSE has_database_privilege(role_oid, o.oid, w."right") END, false)
    GROUP BY 1, 2, 3
  )
  SELECT role, kind, rights, sum(count)::integer AS count,
    string_agg(CASE kind WHEN 'DATABASE' THEN quote_ident(name) ELSE name END, ', ' ORDER BY name) AS names
  FROM lacking GROUP BY 1, 2, 3 ORDER BY 1 DESC, 2, 3`;

/** SQL: functions with the owner's rights that every login may call, the default of a new function. */
const OPEN_FUNCTIONS = `SELECT oid::regprocedure::text AS name FROM pg_proc
  WHERE pronamespace = 'public'::regnamespace AND prosecdef
    AND has_function_privilege('public', oid, 'EXECUTE')
  ORDER BY 1`;

/**
 * Checks that the roles exist and have the rights of the migrations, that the logins may take them, and that
 * other logins may not execute their functions. A plain backup on another server has neither roles nor
 * rights.
 * @throws StartError with the missing roles and rights, and the statements that restore them.
 */
export async function requireAccess(logins: Logins): Promise<void> {
  const { descriptions: what, statements } = await missingAccess(logins);
  if (what.length === 0) return;
  throw new StartError(
    `the database lacks ${what.join(', ')}. A backup of a single database does not contain roles. As an ` +
      `administrator, run in this database:\n${statements.join('\n')}`,
  );
}

/**
 * Creates missing roles and grants missing rights, as far as the owner may. An administrator creates logins
 * with their passwords. `requireAccess` names the rest.
 */
export async function grantAccess(logins: Logins): Promise<void> {
  const { statements } = await missingAccess(logins);
  await withConnection(logins.databaseOwnerUrl, async (client) => {
    for (const statement of statements.filter((text) => !text.includes('PASSWORD')))
      await client.query(statement).catch(() => undefined);
  });
}

/**
 * Grants logins the roles that they had, as far as the owner may.
 * @returns the names of the logins that do not exist or that still lack a role.
 */
export async function grantLogins(
  ownerUrl: string,
  logins: { name: string; roles: string[] }[],
): Promise<string[]> {
  return withConnection(ownerUrl, async (client) => {
    const missing: string[] = [];
    for (const { name, roles } of logins) {
      const granted = ROLES.filter((role) => roles.includes(role)).join(', ');
      await client
        .query(`GRANT ${granted} TO ${client.escapeIdentifier(name)}`)
        .catch(() => missing.push(name));
    }
    return missing;
  });
}

/** Returns the missing access. Empty before the first migration, which creates the roles. */
async function missingAccess(logins: Logins): Promise<MissingAccess> {
  return withConnection(logins.databaseOwnerUrl, async (client) => {
    const { rows } = await client.query<{
      empty: boolean;
      roles: string[];
      database: string;
      version: number;
    }>(
      `SELECT to_regclass('client') IS NULL AS empty, current_database()::text AS database,
         current_setting('server_version_num')::integer AS version,
         ARRAY(SELECT rolname::text FROM pg_roles) AS roles`,
    );
    const [found] = rows;
    const missing: MissingAccess = { descriptions: [], statements: [] };
    if (!found || found.empty) return missing;
    for (const role of ROLES.filter((name) => !found.roles.includes(name))) {
      missing.descriptions.push(`the role ${role}`);
      missing.statements.push(`CREATE ROLE ${role} NOLOGIN;`);
    }
    await addLogins(client, logins, found, missing);
    await addConnecting(client, logins, found.database, missing);
    await addRights(client, found.database, missing);
    await addProtection(client, missing);
    return missing;
  });
}

interface ServerRoles {
  roles: string[];
  version: number;
}

/** Adds the logins without their role, with the names of their variables. */
async function addLogins(
  client: Client,
  logins: Logins,
  { roles, version }: ServerRoles,
  missing: MissingAccess,
): Promise<void> {
  const { databaseUrl, databaseOwnerUrl, databaseSealerUrl } = logins;
  const sealers = databaseSealerUrl ? [databaseSealerUrl] : [databaseOwnerUrl, databaseUrl];
  // With one address, the login takes the role. A separate login always has the rights of the role.
  const steps = version >= 160_000 ? 'SET' : 'MEMBER';
  const needs = [
    { role: 'payout_proxy', urls: [databaseUrl], kind: databaseUrl === databaseOwnerUrl ? steps : 'USAGE' },
    { role: 'payout_sealer', urls: sealers, kind: steps },
  ];
  for (const { role, urls, kind } of needs) {
    const names = urls.map(loginIn);
    const { rows } = await client.query<{ may: boolean }>(
      `SELECT coalesce(bool_or(pg_has_role(l.oid, r.oid, $3)), false) AS may FROM pg_roles l, pg_roles r
       WHERE l.rolname = ANY ($1) AND r.rolname = $2`,
      [names, role, kind],
    );
    if (rows[0]?.may) continue;
    const login = names[0] ?? '';
    const quoted = client.escapeIdentifier(login);
    if (!roles.includes(login)) {
      missing.descriptions.push(`the login ${login}`);
      missing.statements.push(`CREATE ROLE ${quoted} LOGIN PASSWORD '…';`);
    }
    missing.descriptions.push(`the membership of ${login} in ${role}`);
    missing.statements.push(
      `GRANT ${role} TO ${quoted}${version >= 160_000 ? ' WITH INHERIT TRUE, SET TRUE' : ''};`,
    );
  }
}

/** Adds the logins that cannot connect. PUBLIC may lack CONNECT, and dumps omit grants of it. */
async function addConnecting(
  client: Client,
  logins: Logins,
  database: string,
  missing: MissingAccess,
): Promise<void> {
  const urls = [logins.databaseUrl, ...(logins.databaseSealerUrl ? [logins.databaseSealerUrl] : [])];
  for (const login of new Set(urls.map(loginIn))) {
    const { rows } = await client.query<{ may: boolean }>(
      `SELECT coalesce((SELECT has_database_privilege(oid, $2, 'CONNECT') FROM pg_roles WHERE rolname = $1),
         has_database_privilege('public', $2, 'CONNECT')) AS may`,
      [login, database],
    );
    if (rows[0]?.may) continue;
    missing.descriptions.push(`the right of ${login} to connect`);
    missing.statements.push(
      `GRANT CONNECT ON DATABASE ${client.escapeIdentifier(database)} TO ${client.escapeIdentifier(login)};`,
    );
  }
}

/** Returns the login of an address, which may be a parameter or PGUSER. */
function loginIn(url: string): string {
  return new ServerClient({ connectionString: url }).user ?? '';
}

async function addRights(client: Client, database: string, missing: MissingAccess): Promise<void> {
  const { rows } = await client.query<Grant>(LACKING, [JSON.stringify(rightsIn(database))]);
  for (const role of ROLES) {
    const count = rows.filter((grant) => grant.role === role).reduce((sum, grant) => sum + grant.count, 0);
    if (count > 0) missing.descriptions.push(`${count} right${count === 1 ? '' : 's'} of ${role}`);
  }
  for (const { role, kind, rights, names } of rows)
    missing.statements.push(`GRANT ${rights} ON ${kind} ${names} TO ${role};`);
}

/** Adds unprotected functions. A restore sets all their rights at once, and fails for a missing role. */
async function addProtection(client: Client, missing: MissingAccess): Promise<void> {
  const { rows } = await client.query<{ name: string }>(OPEN_FUNCTIONS);
  if (rows.length === 0) return;
  missing.descriptions.push(
    `the protection of ${rows.length} function${rows.length === 1 ? '' : 's'} from other logins`,
  );
  missing.statements.push(
    `REVOKE EXECUTE ON FUNCTION ${rows.map(({ name }) => name).join(', ')} FROM PUBLIC;`,
  );
}
