import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { EmbeddedUrls } from '../../../src/platform/database/embedded/access';

export interface TestDatabase {
  /** Address with the proxy's role. */
  url: string;
  ownerUrl: string;
  /** Queries the proxy's database as its owner. */
  query<Row extends object = Record<string, unknown>>(sql: string, parameters?: unknown[]): Promise<Row[]>;
  /** The sandbox's own database. */
  sandboxUrl: string;
  /** Resolves to the name of the database as a template, once all connections have left it. */
  asTemplate(): Promise<string>;
  close(): Promise<void>;
}

/**
 * Clones the migrated templates into a new database within some hundredths of a second.
 * @param template the source of the proxy's database.
 */
export async function createTestDatabase(template = 'payout_proxy'): Promise<TestDatabase> {
  const urls = JSON.parse(process.env.TEST_POSTGRES ?? '') as EmbeddedUrls;
  const suffix = randomBytes(6).toString('hex');
  const names = { proxy: `proxy_${suffix}`, sandbox: `sandbox_${suffix}` };
  const admin = new Client({ connectionString: withDatabase(urls.owner, 'postgres') });
  await admin.connect();
  // FILE_COPY, because the default writes every page of the template to the write-ahead log.
  await admin.query(`CREATE DATABASE ${names.proxy} TEMPLATE ${template} STRATEGY FILE_COPY`);
  await admin.query(`CREATE DATABASE ${names.sandbox} TEMPLATE sandbox STRATEGY FILE_COPY OWNER sandbox`);
  const ownerUrl = withDatabase(urls.owner, names.proxy);
  const owner = new Client({ connectionString: ownerUrl });
  await owner.connect();
  return {
    url: withDatabase(urls.proxy, names.proxy),
    ownerUrl,
    sandboxUrl: withDatabase(urls.sandbox, names.sandbox),
    query: async <Row extends object>(sql: string, parameters: unknown[] = []) =>
      (await owner.query<Row>(sql, parameters)).rows,
    asTemplate: async () => {
      await owner.end();
      await connectionsEnd(admin, [names.proxy]);
      return names.proxy;
    },
    close: async () => {
      await owner.end();
      await connectionsEnd(admin, Object.values(names));
      for (const name of Object.values(names)) await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.end();
    },
  };
}

/** Maximum number of attempts. Connections that live longer are intended. */
const QUESTIONS = 200;

/** A pool ends before its connections. Terminating them then would cause an unhandled error. */
async function connectionsEnd(admin: Client, names: string[]): Promise<void> {
  for (let asked = 0; asked < QUESTIONS; asked += 1) {
    const { rows } = await admin.query('SELECT FROM pg_stat_activity WHERE datname = ANY ($1) LIMIT 1', [
      names,
    ]);
    if (rows.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.toString();
}
