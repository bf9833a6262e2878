import { v7 as uuidv7 } from 'uuid';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import {
  Ours,
  runPlan,
  startRun,
  Theirs,
  writeOurs,
  writeTheirs,
} from '../../support/reconciliation/comparison';
import { lines, findingsOf } from '../../support/reconciliation/observed-findings';
import { PLANTED_SETTINGS } from '../../support/reconciliation/planted-findings';

const DAY_MS = 86_400_000;

/** Payments whose requests had our ID, and transactions with or without it. */
describe('a run with our own IDs', () => {
  let database: TestDatabase;
  let day = Date.parse('2026-11-01T00:00:00Z');

  beforeAll(async () => void (database = await createTestDatabase()));
  beforeEach(() => (day += 4 * DAY_MS));
  afterAll(() => database.close());

  const at = (hours: number) => new Date(day + hours * 3_600_000);
  const ours = (hours: number, email: string, more: Partial<Ours> = {}): Ours => {
    const call_id = uuidv7({ msecs: at(hours).getTime() });
    const sent = {
      operation: 'POST /payouts/initiate-credit',
      at: at(hours).toISOString(),
      reference: call_id,
    };
    return { call_id, kind: 'succeeded', usd: '10', email, ...sent, ...more };
  };
  const theirs = (hours: number, email: string, more: Partial<Theirs> = {}): Theirs => {
    return {
      issued_at: at(hours).toISOString(),
      type: 'credit',
      status: 'paid',
      amount_usd: '10',
      email,
      ...more,
    };
  };
  const compared = async (mine: Ours[], others: Theirs[]) => {
    await writeOurs(database, mine);
    const { runId, ...plan } = await startRun(database, {
      from: at(0),
      to: at(24),
      asOf: at(72),
      readId: await writeTheirs(database, others),
      walletsReadId: null,
      historical: false,
      source: 'upstream',
      settings: { ...PLANTED_SETTINGS, feePercent: '0' },
    });
    await runPlan(database, { runId, ...plan });
    const matches = await database.query<{ line: string }>(
      "SELECT ordinal || ' ' || rule AS line FROM reconciliation_match WHERE run_id = $1 ORDER BY 1",
      [runId],
    );
    return { matches: matches.map(({ line }) => line), found: lines(await findingsOf(database, runId)) };
  };

  it("attributes no transaction without a call's ID to it, if its operation shows IDs", async () => {
    const listed = ours(1, 'ada@example.com');
    const lost = ours(2, 'bob@example.com');
    const { matches, found } = await compared(
      [listed, lost],
      [
        theirs(1, 'ada@example.com', { reference: listed.call_id }),
        theirs(2, 'bob@example.com', { upstream_ref: 'stranger' }),
        theirs(2, 'bob@example.com', { upstream_ref: 'another', reference: `${listed.call_id}.1` }),
      ],
    );
    expect(matches).toEqual(['0 own_id']);
    expect(found).toEqual([
      'missing_local upstream_ref/another 10',
      'missing_local upstream_ref/stranger 10',
    ]);
  });

  it('attributes a transaction without an ID to a call, if the upstream drops IDs', async () => {
    const named = ours(1, 'ada@example.com', { upstream_ref: 'named' });
    const { matches, found } = await compared(
      [named, ours(2, 'bob@example.com')],
      [theirs(1, 'ada@example.com', { upstream_ref: 'named' }), theirs(2, 'bob@example.com')],
    );
    expect(matches).toEqual(['0 upstream_ref', '1 fingerprint']);
    expect(found).toEqual([]);
  });
});
