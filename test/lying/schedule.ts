import fc from 'fast-check';

/** Habits of clients. Each schedule has one client of each. */
export const HABITS = ['no key', 'new keys', 'impatient', 'hasty', 'obedient'] as const;
export type Habit = (typeof HABITS)[number];

export const KINDS = ['airtime', 'momo', 'credit'] as const;
export type Kind = (typeof KINDS)[number];

/** A fault of the sandbox. The next step waits for its late work. */
export interface Fault {
  fault: string;
  [setting: string]: unknown;
}

/** One item of a payout: the number of a person, and US dollars. */
export interface Payment {
  who: number;
  usd: number;
}

/** A request of a client, which it may send several times. */
export interface PayStep {
  do: 'pay';
  habit: Habit;
  kind: Kind;
  items: Payment[];
  /** The first one strikes the first attempt, the second one the second. */
  faults: Fault[];
  /** Events after the first and the second attempt. */
  meanwhile: Event[][];
}

/** An event caused by the upstream or the proxy itself. */
export type Event =
  | { do: 'lie'; settings: object }
  | { do: 'lies end' }
  | { do: 'changes happen' }
  | { do: 'time passes' }
  | { do: 'resolve' }
  | { do: 'follow' }
  | { do: 'reconcile' }
  | { do: 'top-up'; wallet: 'airtime' | 'momo' | 'chi' }
  | { do: 'fee'; nth: number }
  | { do: 'withdrawal'; wallet: 'airtime' | 'momo' | 'chi'; usd: number }
  | ({ do: 'event' } & EventStep);

/** An event about the nth newest transaction, sent by the upstream or an impostor. */
export interface EventStep {
  nth: number;
  status: string;
  signature: 'right' | 'wrong' | 'none' | 'late';
}

export type Step = PayStep | Event;

export interface Schedule {
  /** Daily cap of each client in US dollars. Null for none. */
  capUsd: number | null;
  feePercent: number;
  steps: Step[];
}

/** Configured as UPSTREAM_FEES. */
export const MOST_FEE_PERCENT = 1.5;

/** Configured as `paid` in UPSTREAM_STATUS_WORDS. */
export const MAPPED_WORD = 'SETTLED_T2';
const UNKNOWN_WORD = 'AWAITING_REVIEW';

/** Longer than a test. A step of its own makes the changes. */
const NOT_BY_ITSELF_MS = 600_000;

const LATER = ['failsLater', 'reversesLater', 'refundsLater'] as const;

/** Answers that hide payments, and three that are true or absent. */
const ANSWERS = [
  'error500AfterProcessing',
  'error500AfterSome',
  'errorBesideTransactions',
  'successNamingNothing',
  'resetAfterProcessing',
  'noResponse',
  'error502Html',
  'truncatedBody',
  'malformedJson',
  'error500',
  'resetBeforeProcessing',
  'unauthorized',
];

const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 11, arbitrary: fc.constantFrom(...ANSWERS).map((name) => ({ fault: name })) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(200, 400, 500).map((status) => ({ fault: 'errorNamingTransactions', status })),
  },
  { weight: 3, arbitrary: fc.constantFrom(...LATER).map((name) => ({ fault: name, ms: NOT_BY_ITSELF_MS })) },
  { weight: 1, arbitrary: fc.constant({ fault: 'slowBody', ms: 150 }) },
  { weight: 2, arbitrary: fc.constantFrom(150, 450).map((ms) => ({ fault: 'delay', ms })) },
);

const words = fc.constantFrom(UNKNOWN_WORD, MAPPED_WORD).map((word) => ({ paid: word }));
const list = fc.oneof(
  fc.constantFrom(0, 3, 8).map((newest) => ({ newest })),
  fc.constant({ frozenAt: 'now' }),
);

const lie: fc.Arbitrary<Event> = fc
  .oneof(
    words.map((listed) => ({ words: { listed } })),
    words.map((answered) => ({ words: { answered } })),
    list.map((transactions) => ({ lists: { transactions } })),
    list.map((entries) => ({ lists: { entries } })),
    fc.constantFrom(0, MOST_FEE_PERCENT).map((feePercent) => ({ feePercent })),
    fc.constantFrom(...KINDS).map((kind) => ({ lists: { transactions: { withoutTypes: [kind] } } })),
    fc.constantFrom(...KINDS).map((kind) => ({ listedAfterMs: { [kind]: NOT_BY_ITSELF_MS } })),
  )
  .map((settings) => ({ do: 'lie', settings }));

const OWN = ['lies end', 'changes happen', 'time passes', 'resolve', 'follow'] as const;
const own = fc.constantFrom(...OWN.map((name): Event => ({ do: name })));

const wallet = fc.constantFrom('airtime', 'momo', 'chi');

const signedEvent: fc.Arbitrary<Event> = fc.record({
  do: fc.constant('event'),
  nth: fc.nat({ max: 6 }),
  status: fc.constantFrom('paid', 'failed', 'reversed', 'refunded', UNKNOWN_WORD),
  signature: fc.constantFrom('right', 'right', 'wrong', 'none', 'late'),
});

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: lie },
  { weight: 6, arbitrary: own },
  { weight: 1, arbitrary: fc.constant<Event>({ do: 'reconcile' }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('top-up'), wallet }) },
  // The amount of a payout, which could hide it.
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('withdrawal'), wallet, usd: fc.constantFrom(0.1, 1, 1.5, 2) }),
  },
  { weight: 3, arbitrary: signedEvent },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fee'), nth: fc.nat({ max: 20 }) }) },
);

const payment: fc.Arbitrary<Payment> = fc.record({
  who: fc.nat({ max: 2 }),
  usd: fc.constantFrom(1, 1.5, 2),
});

/** Mostly events that settle a call while its client still retries. */
const between: fc.Arbitrary<Event> = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Event>({ do: 'time passes' }) },
  { weight: 3, arbitrary: fc.constant<Event>({ do: 'resolve' }) },
  { weight: 2, arbitrary: event },
);

const pay: fc.Arbitrary<PayStep> = fc.record({
  do: fc.constant('pay'),
  habit: fc.constantFrom(...HABITS),
  kind: fc.constantFrom(...KINDS),
  items: fc.array(payment, { minLength: 1, maxLength: 3 }),
  faults: fc.array(fault, { maxLength: 2 }),
  meanwhile: fc.array(fc.array(between, { maxLength: 3 }), { maxLength: 2 }),
});

/** Without fast-check's preference for small values, because a short schedule shows little. */
export const schedule: fc.Arbitrary<Schedule> = fc.noBias(
  fc.record({
    capUsd: fc.constantFrom(null, 3, 6, 10),
    feePercent: fc.constantFrom(0, 0, MOST_FEE_PERCENT),
    steps: fc.array(fc.oneof({ weight: 2, arbitrary: pay }, { weight: 1, arbitrary: event }), {
      minLength: 6,
      maxLength: 14,
      size: 'max',
    }),
  }),
);
