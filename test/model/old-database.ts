import { randomBytes } from 'node:crypto';
import { Client, Pool } from 'pg';
import { EmbeddedUrls } from '../../src/platform/database/embedded/access';
import { createTestDatabase, TestDatabase, withDatabase } from '../support/databases/test-database';
import { eventually } from '../support/payments/paying';
import { numberOf } from './bodies';

/** A call whose admission, outcome or decision the database lost. */
export interface LostCall {
  id: string;
  /** Number of its request. */
  number: number;
}

/**
 * Server named in the history of the copy. A promoted standby has another timeline, and a restored backup is
 * on another server. Otherwise an instance without losses of its own would pay before others report theirs.
 */
const OTHER_SERVER = '7000000000000000000/1';

/** SQLSTATE of a database with other connections. */
const IN_USE = '55006';

const CALLS = `SELECT i.id::text, convert_from(b.body, 'UTF8') AS body, o.kind AS outcome, d.kind AS decision,
  r.id IS NOT NULL AS refused
  FROM intent i LEFT JOIN intent_body b ON b.intent_id = i.id LEFT JOIN outcome o ON o.intent_id = i.id
  LEFT JOIN decision d ON d.intent_id = i.id LEFT JOIN refusal r ON r.id = i.id`;

/**
 * The proxies' database, which can be restored to an earlier state. To the proxies, this looks like a
 * failover to a lagging standby, or a restored backup at the same address: all connections end, and new ones
 * reach an older database. The sandbox's database is unaffected.
 */
export class OldDatabase implements TestDatabase {
  readonly url: string;
  readonly ownerUrl: string;
  private pool: Pool;

  private constructor(
    private readonly shared: TestDatabase,
    private readonly admin: Client,
    private readonly name: string,
    urls: EmbeddedUrls,
  ) {
    this.url = withDatabase(urls.proxy, name);
    this.ownerUrl = withDatabase(urls.owner, name);
    this.pool = this.connect(name);
  }

  static async create(): Promise<OldDatabase> {
    const urls = JSON.parse(process.env.TEST_POSTGRES ?? '') as EmbeddedUrls;
    const shared = await createTestDatabase();
    const admin = new Client({ connectionString: withDatabase(urls.owner, 'postgres') });
    await admin.connect();
    const name = `model_${randomBytes(6).toString('hex')}`;
    await admin.query(`CREATE DATABASE ${name} TEMPLATE payout_proxy STRATEGY FILE_COPY`);
    return new OldDatabase(shared, admin, name, urls);
  }

  get sandboxUrl(): string {
    return this.shared.sandboxUrl;
  }

  /** Repeats a query after a lost connection, as after a failover. */
  async query<Row extends object>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    let rows: Row[] = [];
    await eventually(async () => {
      try {
        ({ rows } = await this.pool.query<Row>(sql, parameters));
        return true;
      } catch (error) {
        if (hasEnded(error)) return false;
        throw error;
      }
    });
    return rows;
  }

  /** Copies the current database. Ends all connections. */
  async copy(): Promise<void> {
    await this.admin.query(`DROP DATABASE IF EXISTS ${this.name}_copy`);
    await this.whileClosed(() =>
      this.admin.query(`CREATE DATABASE ${this.name}_copy TEMPLATE ${this.name} STRATEGY FILE_COPY`),
    );
  }

  /**
   * Replaces the database by its copy. Ends all connections.
   * @returns the calls with records missing in the copy.
   */
  async putBack(): Promise<LostCall[]> {
    const copy = this.connect(`${this.name}_copy`);
    for (const table of ['epoch', 'instance'])
      await copy.query(`UPDATE ${table} SET server = '${OTHER_SERVER}' WHERE server IS NOT NULL`);
    await copy.end();
    await this.whileClosed(async () => {
      await this.admin.query(`ALTER DATABASE ${this.name} RENAME TO ${this.name}_gone`);
      await this.admin.query(`ALTER DATABASE ${this.name}_copy RENAME TO ${this.name}`);
    });
    await this.admin.query(`ALTER DATABASE ${this.name}_gone ALLOW_CONNECTIONS true`);
    const gone = this.connect(`${this.name}_gone`);
    const { rows: before } = await gone.query<LostRow>(CALLS);
    await gone.end();
    const after = new Map((await this.query<LostRow>(CALLS)).map((row) => [row.id, row]));
    await this.admin.query(`DROP DATABASE ${this.name}_gone WITH (FORCE)`);
    return before
      .filter((row) => STATES.some((state) => row[state] !== (after.get(row.id)?.[state] ?? undefined)))
      .map(({ id, body }) => ({ id, number: body === null ? NaN : numberOf(JSON.parse(body)) }));
  }

  asTemplate(): Promise<string> {
    return Promise.reject(new Error('a restorable database cannot be a template'));
  }

  async close(): Promise<void> {
    await this.pool.end();
    for (const suffix of ['', '_copy', '_gone'])
      await this.admin.query(`DROP DATABASE IF EXISTS ${this.name}${suffix} WITH (FORCE)`);
    await this.admin.end();
    await this.shared.close();
  }

  private async whileClosed(work: () => Promise<unknown>): Promise<void> {
    await this.admin.query(`ALTER DATABASE ${this.name} ALLOW_CONNECTIONS false`);
    await eventually(async () => {
      const { rowCount } = await this.admin.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1',
        [this.name],
      );
      return rowCount === 0 && isDone(work());
    });
    await this.admin.query(`ALTER DATABASE ${this.name} ALLOW_CONNECTIONS true`);
  }

  private connect(name: string): Pool {
    const pool = new Pool({ connectionString: withDatabase(this.shared.ownerUrl, name), max: 4 });
    pool.on('error', () => undefined); // an idle connection has ended
    return pool;
  }
}

/** @returns false if a connection that was opening at the close is now established. */
async function isDone(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === IN_USE) return false;
    throw error;
  }
}

interface LostRow {
  id: string;
  body: string | null;
  outcome: string | null;
  decision: string | null;
  refused: boolean;
}

const STATES = ['id', 'outcome', 'decision', 'refused'] as const;

/** SQLSTATEs of an ended connection, or one refused during the replacement. */
const ENDED = /^(57P01|55000|3D000)$/;

function hasEnded(error: unknown): boolean {
  const { code = '', message } = error as { code?: string; message: string };
  return ENDED.test(code) || message.startsWith('Connection terminated');
}
