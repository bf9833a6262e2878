import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { CALL_STATES } from '../../../src/operations/lifecycle/lifecycle';
import { ENTRIES } from '../../../src/operations/lifecycle/settlement';
import { SUM_NAMES, SUMS, usualEntry } from '../../../src/operations/lifecycle/sums';
import { SUM_COLUMNS } from '../../../src/operations/lifecycle/sums-sql';
import { FollowUpService } from '../../../src/reconciliation/following/follow-up.service';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import { ResolverService } from '../../../src/reconciliation/in-doubt/rounds/resolver.service';
import { DEFAULT_CONTROL_KEY } from '../../../src/sandbox/behaviour/settings';
import { runs } from '../../support/examples/runs';
import { ReconciliationScene, startReconciling } from '../../support/reconciliation/reconciliation-scene';
import { askSandbox } from '../../support/sandbox/sandbox-answers';

const AMOUNTS = ['asked_usd', ...SUM_COLUMNS] as const;
type Sums = Record<(typeof AMOUNTS)[number], Decimal>;

/** A payout, and its later status at the upstream. */
const payout = fc.record({
  usd: fc.integer({ min: 1, max: 400 }).map((cents) => cents / 100),
  status: fc.constantFrom('paid', 'pending', 'failed', 'reversed', 'refunded'),
});
type Payout = typeof payout extends fc.Arbitrary<infer Value> ? Value : never;

/** Calls of payouts. The upstream rejects unknown spellings of countries. */
const calls = fc.array(
  fc.record({
    country: fc.constantFrom('Kenya', 'Kenya', 'kenya', 'KENYA', 'KE', 'KEN', 'Kenya.'),
    items: fc.array(payout, { minLength: 1, maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 5 },
);

let scene: ReconciliationScene;
let auditor: string;

beforeAll(async () => {
  scene = await startReconciling({ followUpEverySeconds: 0 });
  auditor = (await scene.proxy.client('auditor', 'audit')).key;
  await scene.behave({ feePercent: 2.5 });
  scene.worker.get(PollService).rules.rejectedQuietMs = 0;
});
afterAll(() => scene.close());

/** Reads or changes the state of the sandbox. */
const control = () => askSandbox(scene.sandbox.url);
const sum = (values: (string | number)[]) =>
  values.reduce<Decimal>((all, usd) => all.plus(usd), new Decimal(0));

async function groups(query: string) {
  return (await scene.proxy.get(auditor, `/v1/audit/summary?${query}`).expect(200)).body.groups;
}

async function sumsOf(query = ''): Promise<Sums> {
  const all = await groups(`group_by=operation${query}`);
  return Object.fromEntries(AMOUNTS.map((name) => [name, sum(all.map((group) => group[name]))])) as Sums;
}

/** Sends payouts or links in one call, and changes their transactions as planned. */
async function send(path: '/payouts/airtime' | '/payouts/initiate-credit', body: object, planned: Payout[]) {
  const id = (await scene.proxy.post(scene.app, path, body)).headers['x-call-id'] as string;
  const { items } = (await scene.proxy.get(scene.app, `/v1/calls/${id}`).expect(200)).body;
  for (const { position, upstream } of items) {
    const { status } = planned[position]!;
    if (upstream === null) continue;
    await control()
      .patch(`/_sandbox/transactions/${upstream.upstream_ref!}`)
      .set('X-Sandbox-Control-Key', DEFAULT_CONTROL_KEY)
      .send({ status })
      .expect(200);
  }
}

/** Returns the money of the upstream's transactions, from their state instead of the list. */
async function truth() {
  const { body } = await control()
    .get('/_sandbox/transactions?limit=10000')
    .set('X-Sandbox-Control-Key', DEFAULT_CONTROL_KEY)
    .expect(200);
  const all = body.filter(({ type }) => type === 'airtime');
  return {
    usd: sum(all.filter(({ truth: { money } }) => money !== 'kept').map(({ valueInUSD }) => valueInUSD)),
    fees: sum(all.map(({ truth: { feePaid } }) => feePaid)),
  };
}

describe('the sums of payouts', () => {
  it('include each entry of a payout once', () => {
    expect(SUM_NAMES.flatMap((name): string[] => SUMS[name].entries).sort()).toEqual(
      Object.keys(ENTRIES).sort(),
    );
  });

  it('agree with the SQL entry for a state', async () => {
    for (const state of CALL_STATES) {
      const [row] = await scene.proxy.database.query('SELECT usual_entry($1) AS entry', [state]);
      expect([state, row?.entry]).toEqual([state, usualEntry(state)]);
    }
  });

  it('match the money of the upstream, and have one country for all its spellings', async () => {
    let [paidTo, number] = [0, 0];
    await fc.assert(
      fc.asyncProperty(calls, async (planned) => {
        for (const { country, items } of planned) {
          const airtimes = items.map(({ usd }) => ({
            countryToSend: country,
            phoneNumber: `+2547120${String((number += 1)).padStart(5, '0')}`,
            valueInUSD: usd,
          }));
          paidTo += items.length;
          await send('/payouts/airtime', { airtimes }, items);
        }
        await scene.worker.get(FollowUpService).runOnce();
        await scene.worker.get(ResolverService).runOnce(); // of rejected calls
        const [sums, real] = [await sumsOf(), await truth()];
        expect(sum(SUM_NAMES.map((name) => sums[name].toFixed())).toFixed()).toBe(sums.asked_usd.toFixed());
        expect(sums.paid_usd.plus(sums.pending_usd).toFixed()).toBe(real.usd.toFixed());
        expect(sums.fees_usd.toFixed()).toBe(real.fees.toFixed());
        const byCountry = await groups('group_by=country&operation=POST%20/payouts/airtime');
        expect(byCountry).toMatchObject([{ group: 'KE', name: 'Kenya', items: paidTo }]);
        expect(byCountry[0]).toMatchObject(
          Object.fromEntries(AMOUNTS.map((name) => [name, sums[name].toFixed()])),
        );
        // The sum of the same payouts.
        const each = await sumsOf('&min_item_usd=0');
        expect(each).toEqual(sums);
      }),
      { numRuns: runs(3), endOnFailure: true },
    );
  });

  it('show a link as pending until it is paid', async () => {
    const before = await sumsOf();
    const credits = [{ email: 'ada@example.com', valueInUSD: 3 }];
    const links = (status: Payout['status']) =>
      send('/payouts/initiate-credit', { credits }, [{ usd: 3, status }]);
    await links('unpaid' as Payout['status']);
    await scene.worker.get(FollowUpService).runOnce();
    const pending = await sumsOf();
    expect(pending.pending_usd.minus(before.pending_usd).toFixed()).toBe('3');
    expect(pending.paid_usd.toFixed()).toBe(before.paid_usd.toFixed());
    await links('paid');
    await scene.worker.get(FollowUpService).runOnce();
    expect((await sumsOf()).paid_usd.minus(before.paid_usd).toFixed()).toBe('3');
  });

  it('are equal in an export', async () => {
    const sums = await sumsOf();
    const answer = await fetch(`${scene.proxy.url}/v1/audit/export?format=ndjson&what=items`, {
      headers: { 'X-API-Key': auditor },
    });
    const rows = (await answer.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string | null>);
    const total = (name: string) => sum(rows.map((row) => row[name] ?? 0)).toFixed();
    for (const name of SUM_NAMES) expect([name, total(name)]).toEqual([name, sums[name].toFixed()]);
    expect(total('fee_usd')).toBe(sums.fees_usd.toFixed());
    expect(rows.filter(({ country_code: code }) => code === 'KE').length).toBe(
      rows.filter(({ operation }) => operation === 'POST /payouts/airtime').length,
    );
  });
});
