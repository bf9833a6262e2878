import { v7 as uuidv7 } from 'uuid';
import { Plan } from '../../../src/reconciliation/book/plan';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import {
  Ours,
  runPlan,
  startRun,
  Theirs,
  writeListing,
  writeOurs,
  writeTheirs,
} from '../../support/reconciliation/comparison';
import { lines, findingsOf } from '../../support/reconciliation/observed-findings';
import { PLANTED_SETTINGS } from '../../support/reconciliation/planted-findings';
import { writeWallets } from '../../support/reconciliation/wallets';

type Account = 'main' | 'kenya';

const DAY = Date.parse('2026-11-01T00:00:00Z');
const HOUR_MS = 3_600_000;

/** Two accounts whose upstreams use the same IDs. */
describe('runs of accounts with equal references', () => {
  let database: TestDatabase;
  const clients = { main: uuidv7(), kenya: uuidv7() };

  beforeEach(async () => {
    database = await createTestDatabase();
    const insert = "INSERT INTO client (id, name, scopes, account) VALUES ($1, $2, '{pay}', $3)";
    await database.query(insert, [clients.main, 'shop', 'main']);
    await database.query(insert, [clients.kenya, 'kiosk', 'kenya']);
  });
  afterEach(() => database.close());

  const at = (hours: number) => new Date(DAY + hours * HOUR_MS);
  const paid = async (account: Account, upstream_ref: string, hours = 1) => {
    const call_id = uuidv7({ msecs: at(hours).getTime() });
    const sent = { operation: 'POST /payouts/credit', at: at(hours).toISOString(), email: 'ada@example.com' };
    const ours: Ours = {
      call_id,
      kind: 'succeeded',
      usd: '10',
      upstream_ref,
      client_id: clients[account],
      ...sent,
    };
    await writeOurs(database, [ours]);
    return call_id;
  };
  const listed = (upstream_ref: string, hours = 1): Theirs => {
    const issued_at = at(hours).toISOString();
    return {
      upstream_ref,
      issued_at,
      type: 'credit',
      status: 'paid',
      amount_usd: '10',
      email: 'ada@example.com',
    };
  };
  const compared = async (account: Account, readId: string, more: Partial<Plan> = {}) => {
    const plan = await startRun(database, {
      account,
      from: at(0),
      to: at(24),
      asOf: at(72),
      readId,
      walletsReadId: null,
      historical: false,
      source: 'upstream',
      settings: { ...PLANTED_SETTINGS, feePercent: '0' },
      ...more,
    });
    const totals = await runPlan(database, plan);
    return { totals, found: lines(await findingsOf(database, plan.runId)), matched: totals.matched.count };
  };
  const compare = async (account: Account, theirs: Theirs[], more?: Partial<Plan>) =>
    compared(account, await writeTheirs(database, theirs, 'transactions', account), more);
  const states = async () => {
    const rows = await database.query<{ line: string }>(
      `SELECT coalesce(f.account, 'main') || ' ' || category || ' ' || coalesce((
         SELECT state FROM finding_step s WHERE s.finding_id = f.id ORDER BY s.id DESC LIMIT 1),
           'open') AS line
       FROM finding f ORDER BY 1`,
    );
    return rows.map(({ line }) => line);
  };

  it('match each call only with the listing of its own account', async () => {
    const [main, kenya] = [await paid('main', 'R-1'), await paid('kenya', 'R-1')];
    for (const account of ['main', 'kenya'] as const) {
      expect(await compare(account, [listed('R-1')])).toMatchObject({ found: [], matched: 1 });
    }
    const matches = await database.query<{ id: string }>(
      'SELECT call_id AS id FROM reconciliation_match ORDER BY run_id',
    );
    expect(matches.map(({ id }) => id)).toEqual([main, kenya]);
    const unpaid = await paid('main', 'R-2', 2);
    expect(await compare('kenya', [listed('R-1'), listed('R-2', 2)])).toMatchObject({
      found: ['missing_local account/kenya/upstream_ref/R-2 10'],
      matched: 1,
    });
    expect((await compare('main', [listed('R-1')])).found).toEqual([`missing_upstream call/${unpaid}/0 -10`]);
  });

  it('keep findings with equal references apart', async () => {
    expect((await compare('main', [listed('R-1')])).found).toEqual(['missing_local upstream_ref/R-1 10']);
    expect((await compare('kenya', [listed('R-1')])).found).toEqual([
      'missing_local account/kenya/upstream_ref/R-1 10',
    ]);
    expect(await states()).toEqual(['kenya missing_local open', 'main missing_local open']);
  });

  it('resolve only findings of their account, despite later runs of others', async () => {
    const lost = await paid('kenya', 'R-3');
    expect((await compare('kenya', [])).found).toEqual([`missing_upstream account/kenya/call/${lost}/0 -10`]);
    await compare('main', [listed('R-3')], { asOf: at(96) });
    expect(await states()).toEqual(['kenya missing_upstream open', 'main missing_local open']);
    await compare('kenya', [listed('R-3')], { asOf: at(80) });
    expect(await states()).toEqual(['kenya missing_upstream resolved', 'main missing_local open']);
  });

  it('miss no transaction of another account', async () => {
    await paid('main', 'R-1');
    await compare('main', [listed('R-1')]); // lists a thousand
    const few = [{ ...listed('old'), issued_at: '2001-01-01T00:00:00Z' }];
    const kenya = await compared('kenya', await writeListing(database, few, 1, 'transactions', [], 'kenya'));
    expect(kenya.totals.incomplete).toEqual([]);
  });

  it('compare the entries of a wallet with earlier readings of their account', async () => {
    const wallets = (account: Account, start: string, end: string) =>
      writeWallets(
        database,
        { w1: [[start, '10', end, HOUR_MS / 1_000]] },
        { day: DAY, readAt: at(48), account },
      );
    await wallets('main', '0', '10');
    const walletsReadId = await wallets('kenya', '20', '30');
    const { found } = await compare('kenya', [], { walletsReadId });
    expect(found).toEqual([`unexplained_credit account/kenya/wallet/w1/2026-11-01T01:00:00.000000Z 0`]);
  });
});
