import { Client, Pool } from 'pg';
import { SIDE_CONNECTIONS, SidePrisma } from '../../../src/platform/database/pools/side-prisma';
import { cancelOverdueStatements } from '../../../src/platform/database/pools/statement-canceler';
import { OwnPostgres, startOwnPostgres } from '../../support/databases/own-postgres';
import { eventually, PaymentScene, startPaying } from '../../support/payments/paying';
import { passTime } from '../../support/processes/pass-time';

const AFTER_MS = 2_000;
const NAME = 'overdue-spec';

/** Statements that nobody waits for any more, on a server that is stuck or frozen. */
describe('a statement that outlives its request', () => {
  let postgres: OwnPostgres;
  let pool: Pool;
  let stop: () => void;

  beforeAll(async () => {
    postgres = await startOwnPostgres();
    await query('CREATE TABLE written (number integer); GRANT ALL ON written TO PUBLIC');
    pool = new Pool({
      connectionString: postgres.database.url,
      application_name: NAME,
      max: 3,
      connectionTimeoutMillis: 1_000,
    });
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
    stop = cancelOverdueStatements(pool, AFTER_MS);
  });
  afterAll(async () => {
    stop();
    await pool.end();
    await postgres.close();
  });

  const query = (sql: string) => postgres.database.query(sql);
  const backends = () => query(`SELECT pid FROM pg_stat_activity WHERE application_name = '${NAME}'`);

  it('is canceled on the server, and does not run once its lock is free', async () => {
    const holder = new Client({ connectionString: postgres.database.ownerUrl });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE written');
    await expect(pool.query('INSERT INTO written VALUES (1)')).rejects.toThrow(/terminated|canceling/);
    await eventually(async () => (await backends()).length === 0);
    await holder.query('COMMIT');
    await holder.end();
    expect(await query('SELECT number FROM written')).toEqual([]);
    await pool.query('INSERT INTO written VALUES (2)');
    expect(await query('SELECT number FROM written')).toEqual([{ number: 2 }]);
  });

  it('leaves no backend on a server that was frozen', async () => {
    postgres.freeze();
    const refused = () => expect(pool.query('SELECT pg_sleep(3600)')).rejects.toThrow();
    await Promise.all([refused(), refused(), refused(), refused(), refused(), refused()]);
    postgres.thaw();
    await eventually(async () => (await backends()).length === 0);
    await pool.query('SELECT 1');
  });

  it('is not canceled within its timeout, nor is an idle connection', async () => {
    const [before] = (await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
    for (let time = 0; time < 5; time += 1) await pool.query(`SELECT pg_sleep(${AFTER_MS / 4_000})`);
    const [after] = (await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
    expect(after).toEqual(before);
  });
});

/** Locks usually end a statement themselves. These wait for one without a limit. */
describe('a blocked statement outside the payment path', () => {
  let paying: PaymentScene;
  const holder = () => new Client({ connectionString: paying.proxy.database.ownerUrl });

  beforeAll(async () => (paying = await startPaying()));
  afterAll(() => paying.close());

  it('ends on the server, and frees its connection', async () => {
    const side = paying.proxy.app.get(SidePrisma, { strict: false });
    const stuck = () =>
      side.$transaction(
        async (tx) => {
          await tx.$executeRaw`SELECT set_config(name, '0', TRUE)
            FROM unnest(ARRAY['lock_timeout', 'statement_timeout']) AS name`;
          await tx.$executeRaw`LOCK TABLE console_session IN ROW EXCLUSIVE MODE`;
        },
        { timeout: 600_000 },
      );
    const waiting = async () =>
      (
        await paying.proxy.database.query(
          `SELECT FROM pg_stat_activity WHERE query LIKE 'LOCK TABLE console%'`,
        )
      ).length;
    const lock = holder();
    await lock.connect();
    await lock.query('BEGIN; LOCK TABLE console_session');
    const ended = Promise.allSettled(Array.from({ length: SIDE_CONNECTIONS }, stuck));
    await eventually(async () => (await waiting()) === SIDE_CONNECTIONS);
    const clock = passTime();
    await eventually(async () => (await waiting()) === 0);
    clock.mockRestore();
    expect((await ended).map(({ status }) => status)).toEqual(Array(SIDE_CONNECTIONS).fill('rejected'));
    // its key is looked up beside payments
    await paying.proxy.get(paying.auditor, '/v1/audit/calls').expect(200);
    await lock.end();
  });
});
