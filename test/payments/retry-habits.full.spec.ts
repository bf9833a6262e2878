import { Customer } from '../lying/customer';
import { Event, Fault, HABITS } from '../lying/schedule';
import { compare, isPaid } from '../lying/truth';
import { LyingWorld } from '../lying/world';

interface Expected {
  fault: Fault;
  /** Status of each client's last answer. On a busy machine, an impatient client may hang up first. */
  told: Record<(typeof HABITS)[number], number | number[]>;
  /** State of each payout, the same for every habit. The obedient client resends failed ones. */
  states: string[];
}

const IN_DOUBT = { 'no key': 409, 'new keys': 409, hasty: 409 };
const SUCCESS = { 'no key': 200, 'new keys': 200, impatient: [200, 409], hasty: [200, 409], obedient: 200 };

/** Longer than impatient and hasty clients wait, and shorter than the proxy's timeout. */
const SLOW: Fault = { fault: 'slowBody', ms: 150 };

/** On a busy machine, the proxy may time out, too. */
const SLOWLY = {
  'no key': [200, 409],
  'new keys': [200, 409],
  impatient: [200, 409],
  hasty: 409,
  obedient: [200, 504],
};

const LIES: Record<string, Expected> = {
  'pays, and answers 500': {
    fault: { fault: 'error500AfterProcessing' },
    told: { ...IN_DOUBT, impatient: [500, 409], obedient: 500 },
    states: ['paid', 'paid'],
  },
  'pays some, and answers 500': {
    fault: { fault: 'error500AfterSome' },
    told: { ...IN_DOUBT, impatient: [500, 409], obedient: 200 },
    states: ['paid', 'not_executed'],
  },
  'pays some, and answers 200 with an error text': {
    fault: { fault: 'errorBesideTransactions' },
    told: SUCCESS,
    states: ['paid', 'not_executed'],
  },
  'answers 200, and fails later': {
    fault: { fault: 'failsLater', ms: 600_000 }, // at the test's signal
    told: SUCCESS,
    states: ['failed', 'failed'],
  },
  'pays, and answers slowly': {
    fault: SLOW,
    told: SLOWLY,
    states: ['paid', 'paid'],
  },
  'pays, and resets the connection': {
    fault: { fault: 'resetAfterProcessing' },
    told: { ...IN_DOUBT, impatient: 409, obedient: 502 },
    states: ['paid', 'paid'],
  },
};

/** Clients retry by their habits while the upstream lies. Each person is paid once, as the API reports. */
describe('a retrying client', () => {
  let world: LyingWorld;
  let count = 0;

  beforeAll(async () => void (world = await LyingWorld.start()));
  afterAll(() => world.close());

  const happen = async (...events: Event['do'][]) => {
    for (const what of events) await world.happen({ do: what } as Parameters<LyingWorld['happen']>[0]);
  };
  /** Executes due changes of the upstream, a resolver round and a follow-up. */
  const settle = () => happen('changes happen', 'time passes', 'resolve', 'follow');

  const items = (length: number) => Array.from({ length }, () => ({ who: world.newPeople(1), usd: 1 }));

  describe.each(HABITS)('with the habit "%s"', (habit) => {
    const client = () => Customer.of(world, habit, `client-${(count += 1)}`, null);

    it.each(Object.entries(LIES))(
      'pays each person at most once if the upstream %s',
      async (_lie, expected) => {
        const customer = await client();
        await world.faults([expected.fault]);
        const order = await customer.order({ kind: 'credit', items: items(2) }, () => Promise.resolve());
        await world.faults([]);
        await settle();
        await customer.obey();
        await settle();
        const payouts = await compare(world, [customer]);
        const first = payouts.filter(({ callId }) => callId === order.calls[0]?.id);
        expect(first.map(({ state }) => state)).toEqual(expected.states);
        expect(payouts.map(({ state }) => state)).toEqual(payouts.map(({ truth }) => truth));
        const timesPaid = order.items.map(
          (_, place) => payouts.filter((one) => one.place === place && isPaid(one.transaction)).length,
        );
        expect(timesPaid).toEqual(
          expected.states.map((state) => (habit === 'obedient' || state === 'paid' ? 1 : 0)),
        );
        expect([expected.told[habit]].flat()).toContain(order.replies.at(-1)?.status);
      },
    );

    it.each(['error500AfterProcessing', 'resetAfterProcessing', 'error500', 'resetBeforeProcessing'])(
      'pays a person exactly once after %s, if the doubt ends while the client retries',
      async (fault) => {
        const customer = await client();
        await world.faults([{ fault }]);
        const order = await customer.order({ kind: 'airtime', items: items(1) }, () =>
          happen('time passes', 'resolve'),
        );
        await world.faults([]);
        await settle(); // on a busy machine, the second attempt may have timed out in the proxy
        const payouts = await compare(world, [customer]);
        expect(payouts.filter(({ transaction }) => isPaid(transaction))).toHaveLength(1);
        expect(payouts.map(({ state }) => state)).toEqual(payouts.map(({ truth }) => truth));
        expect(order.calls).toHaveLength(fault.endsWith('AfterProcessing') ? 1 : 2);
      },
    );

    it.each([1, 3])('pays each of %i people exactly once after a slow success', async (length) => {
      const customer = await client();
      await world.faults([SLOW]);
      const order = await customer.order({ kind: 'momo', items: items(length) }, () => happen('time passes'));
      await world.faults([]);
      await settle();
      const payouts = await compare(world, [customer]);
      expect(payouts.map(({ state }) => state)).toEqual(order.items.map(() => 'paid'));
      expect(order.calls).toHaveLength(1);
    });
  });
});
