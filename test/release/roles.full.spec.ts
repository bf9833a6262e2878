import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { FUNCTION_RIGHTS, Role, ROLES, TABLE_RIGHTS } from '../../src/platform/database/checks/rights';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';

interface Relation {
  name: string;
  column: string;
  isView: boolean;
}

describe('the roles of the database', () => {
  const suffix = randomBytes(6).toString('hex');
  const login = (role: Role) => `${role}_${suffix}`;
  let database: TestDatabase;
  let clients: Record<Role, Client>;
  let relations: Relation[];

  beforeAll(async () => {
    database = await createTestDatabase();
    const connected = await Promise.all(
      ROLES.map(async (role) => {
        await database.query(`CREATE ROLE ${login(role)} LOGIN PASSWORD '${suffix}' IN ROLE ${role}`);
        const url = new URL(database.ownerUrl);
        [url.username, url.password] = [login(role), suffix];
        const client = new Client({ connectionString: url.toString() });
        await client.connect();
        return [role, client] as const;
      }),
    );
    clients = Object.fromEntries(connected) as Record<Role, Client>;
    relations = await database.query<Relation>(
      `SELECT c.oid::regclass::text AS name, c.relkind = 'v' AS "isView",
         (SELECT quote_ident(attname) FROM pg_attribute
           WHERE attrelid = c.oid AND attnum > 0 AND attgenerated = '' ORDER BY attnum LIMIT 1) AS column
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
         AND nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
         AND nspname !~ '^pg_temp' AND NOT c.relispartition ORDER BY 1`,
    );
  });
  afterAll(async () => {
    await Promise.all(Object.values(clients).map((client) => client.end()));
    for (const role of ROLES) await database.query(`DROP ROLE ${login(role)}`);
    await database.close();
  });

  /** Whether the role has permission. A failure for another reason counts as permitted. */
  async function may(role: Role, sql: string): Promise<boolean> {
    const client = clients[role];
    await client.query('BEGIN');
    try {
      await client.query(sql);
      return true;
    } catch (error) {
      const { code } = error as { code: string };
      // Not granted; views cannot be written or truncated.
      if (['42501', '42809', '55000'].includes(code)) return false;
      expect(code).toMatch(/^23/); // a required column is missing; records are append-only
      return true;
    } finally {
      await client.query('ROLLBACK');
    }
  }

  async function rightsOf(role: Role, { name, column }: Relation): Promise<string> {
    const verbs = {
      S: `SELECT ${column} FROM ${name} LIMIT 1`,
      I: `INSERT INTO ${name} DEFAULT VALUES`,
      U: `UPDATE ${name} SET ${column} = ${column}`,
      D: `DELETE FROM ${name} WHERE false`,
      T: `TRUNCATE ${name}`,
    };
    let rights = '';
    for (const [letter, sql] of Object.entries(verbs)) if (await may(role, sql)) rights += letter;
    return rights;
  }

  it('have a decision for every table and view, and exactly these rights', async () => {
    expect(relations.map(({ name }) => name).sort()).toEqual(Object.keys(TABLE_RIGHTS).sort());
    for (const relation of relations) {
      const rights = Object.fromEntries(
        await Promise.all(ROLES.map(async (role) => [role, await rightsOf(role, relation)] as const)),
      );
      const decided = Object.fromEntries(
        ROLES.map((role) => [role, TABLE_RIGHTS[relation.name]?.[role] ?? '']),
      );
      expect({ name: relation.name, ...rights }).toEqual({ name: relation.name, ...decided });
    }
  });

  it('reach partitions only through their table', async () => {
    const partitions = await database.query<{ name: string }>(
      'SELECT c.oid::regclass::text AS name FROM pg_class c WHERE relispartition AND relkind = $1',
      ['r'],
    );
    expect(partitions.length).toBeGreaterThan(8);
    for (const { name } of partitions) {
      for (const role of ROLES) {
        expect([
          name,
          role,
          await may(role, `SELECT FROM ${name}`),
          await may(role, `DELETE FROM ${name}`),
        ]).toEqual([name, role, false, false]);
      }
    }
  });

  it("execute only the owner's functions with owner rights, each with a fixed search path", async () => {
    const definers = await database.query<{ name: string; config: string[] | null }>(
      `SELECT p.oid::regprocedure::text AS name, proconfig AS config FROM pg_proc p WHERE prosecdef
        AND proowner <> 10
         OR prosecdef AND pronamespace IN ('public'::regnamespace, 'audit'::regnamespace)`,
    );
    expect(definers.map(({ name }) => name).sort()).toEqual(Object.keys(FUNCTION_RIGHTS).sort());
    for (const { name, config } of definers) {
      expect(config?.join()).toMatch(/search_path=pg_catalog, public/);
      const [row] = await database.query(
        `SELECT array_agg(role::text ORDER BY role) AS roles FROM unnest($1::text[]) AS role
         WHERE has_function_privilege(role, $2, 'EXECUTE')`,
        [ROLES, name],
      );
      expect([name, row?.roles]).toEqual([name, FUNCTION_RIGHTS[name]]);
      const [acl] = await database.query(
        `SELECT count(*)::int AS public FROM pg_proc p, aclexplode(p.proacl) a WHERE p.oid = $1::regprocedure
          AND grantee = 0`,
        [name],
      );
      expect([name, acl?.public]).toEqual([name, 0]);
      const call = name.replace(/[^(),]+(?=[,)])/g, (type) => `NULL::${type}`);
      await expect(may('payout_auditor', `SELECT ${call}`)).resolves.toBe(false);
    }
  });

  it('cannot become each other, or create objects', async () => {
    for (const role of ROLES) {
      for (const other of ROLES.filter((name) => name !== role))
        expect(await may(role, `SET ROLE ${other}`)).toBe(false);
      expect(await may(role, 'CREATE TABLE public.mine (id int)')).toBe(false);
      expect(await may(role, 'CREATE TABLE audit.mine (id int)')).toBe(false);
    }
  });
});
