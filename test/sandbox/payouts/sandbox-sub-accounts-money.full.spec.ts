import * as fc from 'fast-check';
import { runs } from '../../support/examples/runs';
import { expectSoundLedger } from '../../support/reconciliation/sound-ledger';
import { airtime, DEMO, startSandbox, SUB_ACCOUNT, TestSandbox } from '../../support/sandbox/sandbox';

const NORTH = SUB_ACCOUNT;
const SOUTH = '00000000-0000-4000-8000-000000000003';
const NOBODY = '00000000-0000-4000-8000-00000000ffff';
const OPENING = 20;

/** Each account, and the field that selects it in a request. */
const ACTORS: Record<string, object> = {
  [DEMO]: {},
  [NORTH]: { subAccount: NORTH },
  [SOUTH]: { subAccount: SOUTH },
};

interface Step {
  actor: string;
  usd: number;
  /** Recipient of a transfer. Null for an airtime payout. */
  receiver: string | null;
}

const step: fc.Arbitrary<Step> = fc.record({
  actor: fc.constantFrom(...Object.keys(ACTORS), NOBODY),
  usd: fc.integer({ min: 1, max: 9 }),
  receiver: fc.option(fc.constantFrom(...Object.keys(ACTORS)), { freq: 2 }),
});

/** Expected state of the accounts. */
class Model {
  readonly balances = new Map(Object.keys(ACTORS).map((account) => [account, OPENING]));
  readonly transactions = new Map(Object.keys(ACTORS).map((account) => [account, 0]));

  /** Applies a step. Returns false if it must be rejected. */
  take({ actor, usd, receiver }: Step): boolean {
    const balance = this.balances.get(actor) ?? 0;
    if (receiver === actor || balance < usd) return false;
    this.balances.set(actor, balance - usd);
    if (receiver !== null) this.balances.set(receiver, (this.balances.get(receiver) ?? 0) + usd);
    this.transactions.set(actor, (this.transactions.get(actor) ?? 0) + 1);
    return true;
  }
}

describe('the money of the sandbox with subAccount', () => {
  let sandbox: TestSandbox;

  beforeAll(async () => void (sandbox = await startSandbox()));
  afterAll(() => sandbox.close());

  async function begin(): Promise<void> {
    await sandbox.control('post', '/reset').expect(204);
    const entry = (type: string, account: string, valueInUSD: number) =>
      sandbox.control('post', '/entries', { type, account, wallet: 'airtime', valueInUSD }).expect(201);
    await entry('withdrawal', DEMO, 10_000 - OPENING);
    for (const account of [NORTH, SOUTH]) await entry('top-up', account, OPENING);
  }

  const fieldsOf = (actor: string) => ACTORS[actor] ?? { subAccount: actor };
  const send = ({ actor, usd, receiver }: Step) =>
    receiver === null
      ? sandbox.post('/payouts/airtime', { ...airtime(usd), ...fieldsOf(actor) })
      : sandbox.post('/wallets/transfer', {
          receiver,
          valueInUSD: usd,
          wallet: 'airtime',
          ...fieldsOf(actor),
        });

  /** Returns an account's airtime balance and the issuers of its transactions. */
  async function shownTo(actor: string) {
    const wallets = (await sandbox.post('/wallets/list', fieldsOf(actor)).expect(200)).body.data;
    const transactions = (await sandbox.post('/account/transactions', fieldsOf(actor)).expect(200)).body.data;
    return {
      owners: wallets.map(({ owner }) => owner),
      balance: wallets.find(({ type }) => type === 'airtime')?.balance,
      issuers: transactions.map(({ issuer }) => issuer),
    };
  }

  it('belongs to the acting account, after any sequence of payouts and transfers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        await begin();
        const model = new Model();
        for (const one of steps) expect((await send(one)).status).toBe(model.take(one) ? 200 : 400);
        for (const actor of Object.keys(ACTORS))
          expect(await shownTo(actor)).toEqual({
            owners: Array(3).fill(actor),
            balance: model.balances.get(actor),
            issuers: Array(model.transactions.get(actor)).fill(actor),
          });
        await expectSoundLedger(sandbox.database);
      }),
      { numRuns: runs(10), endOnFailure: true },
    );
  });

  it('is conserved under concurrent requests of several accounts', async () => {
    await begin();
    const actors = Object.keys(ACTORS);
    const steps = Array.from({ length: 60 }, (_, index) => {
      const actor = actors[index % 3] ?? DEMO;
      return { actor, usd: 3, receiver: index % 2 ? (actors[(index + 1) % 3] ?? DEMO) : null };
    });
    const statuses = await Promise.all(steps.map(async (one) => (await send(one)).status));
    const paidOut =
      steps.filter(({ receiver }, index) => receiver === null && statuses[index] === 200).length * 3;
    const shown = await Promise.all(actors.map(shownTo));
    const left = shown.reduce((sum, { balance }) => sum + (balance ?? 0), 0);
    expect(new Set(statuses)).toEqual(new Set([200, 400])); // 503 means a deadlock
    expect(left).toBe(3 * OPENING - paidOut);
    actors.forEach((actor, index) => expect(new Set(shown[index]?.issuers)).toEqual(new Set([actor])));
    await expectSoundLedger(sandbox.database);
  });
});
