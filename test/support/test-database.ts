import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { Urls } from '../../src/platform/database/embedded/access';

export interface TestDatabase {
  /** As the proxy's role. */
  url: string;
  ownerUrl: string;
  /** Asks the proxy's database as its owner. */
  query<Row extends object = Record<string, unknown>>(sql: string, parameters?: unknown[]): Promise<Row[]>;
  /** The sandbox's own database. */
  sandboxUrl: string;
  /** The name that copies are made of. Nothing is asked of it afterwards, by anybody; resolves once all have left it. */
  asTemplate(): Promise<string>;
  close(): Promise<void>;
}

/**
 * Clones the migrated templates: a database of one's own in some hundredths of a second.
 * @param template what the proxy's database is a copy of.
 */
export async function createTestDatabase(template = 'payout_proxy'): Promise<TestDatabase> {
  const urls = JSON.parse(process.env.TEST_POSTGRES ?? '') as Urls;
  const suffix = randomBytes(6).toString('hex');
  const names = { proxy: `proxy_${suffix}`, sandbox: `sandbox_${suffix}` };
  const admin = new Client({ connectionString: withDatabase(urls.owner, 'postgres') });
  await admin.connect();
  // FILE_COPY: by default every page of the template would go through the log of a server that never recovers from one.
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

/** Asks at most this often: what lives longer was meant to be left behind. */
const QUESTIONS = 200;

/** A pool says that it has ended before its connections have: to be terminated then would be an error that nobody hears. */
async function connectionsEnd(admin: Client, names: string[]): Promise<void> {
  for (let asked = 0; asked < QUESTIONS; asked += 1) {
    const { rows } = await admin.query('SELECT FROM pg_stat_activity WHERE datname = ANY ($1) LIMIT 1', [names]);
    if (rows.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.toString();
}
