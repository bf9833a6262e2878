import { Client } from 'pg';
import { StartError } from '../config/config';

/** What a migration makes. Sequences of columns, and what belongs to an extension, have no owner of their own. */
const OWNED = `
SELECT format('ALTER TABLE %s OWNER TO %I', c.oid::regclass, login)
  FROM pg_class c
  WHERE relnamespace::regnamespace::text IN ('public', 'audit') AND relkind IN ('r', 'p', 'v', 'S')
    AND NOT EXISTS (
      SELECT FROM pg_depend d WHERE d.objid = c.oid AND (deptype = 'e' OR relkind = 'S' AND deptype IN ('a', 'i')))
UNION ALL
SELECT format('ALTER ROUTINE %s OWNER TO %I', p.oid::regprocedure, login)
  FROM pg_proc p
  WHERE pronamespace::regnamespace::text IN ('public', 'audit')
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND deptype = 'e')
UNION ALL SELECT format('ALTER SCHEMA %I OWNER TO %I', nspname, login) FROM pg_namespace WHERE nspname = 'audit'
UNION ALL SELECT format('ALTER DATABASE %I OWNER TO %I', current_database(), login)`;

/**
 * Explains why a login may not use the tables of a database: another login owns them. An administrator who restores a
 * dump owns what the dump's owner does not exist for.
 * @returns undefined if the login owns them, or if there are none.
 */
export async function notOwner(client: Client): Promise<StartError | undefined> {
  const { rows } = await client.query<{ login: string; owner: string }>(
    `SELECT current_user::text AS login, pg_get_userbyid(relowner)::text AS owner FROM pg_class
     WHERE oid = to_regclass('public._prisma_migrations') AND NOT pg_has_role(relowner, 'USAGE')`,
  );
  const [found] = rows;
  if (!found) return undefined;
  const { login, owner } = found;
  const oneLine = OWNED.trim().replaceAll(/\s+/g, ' '); // one statement on one line is copied without mistakes
  const change = `DO $$ DECLARE login text := ${client.escapeLiteral(login)}; statement text; BEGIN FOR statement IN ${oneLine} LOOP EXECUTE statement; END LOOP; END $$;`;
  return new StartError(
    `the tables of the database belong to ${owner}, and the owner's login is ${login}. If ${owner} is to be the owner, set DATABASE_OWNER_URL to it. If another login has restored the database, run as an administrator in this database:\n${change}`,
  );
}
