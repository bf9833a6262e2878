import fc from 'fast-check';

/** A proxy that freezes like a suspended machine, and wakes up. */
export interface Suspension {
  kind: 'suspension';
  victim: number;
  afterSubmissions: number;
  /** Number of submissions until it wakes up. It wakes up earlier when no other work is left. */
  forSubmissions: number;
  /** Whether the database drops its connections, and people settle its calls on the other proxy. */
  settled: boolean;
  /** Whether it freezes right before the first byte of an admitted request. Otherwise at any moment. */
  atSend: boolean;
}

/** A database restored to an earlier state. With few lost submissions, only its last commits are lost. */
export interface Loss {
  kind: 'loss';
  afterSubmissions: number;
  lostSubmissions: number;
  /** Whether the proxies are restarted during the recovery. */
  restarts: boolean;
}

/** Affects all schedules of a wave. */
export type Disaster = { kind: 'none' } | Suspension | Loss;

/** Offsets of the wall clocks of the two proxies, in ms. */
export interface Clocks {
  atFirst: [number, number];
  /** A change of one clock during the wave. */
  step: { victim: number; afterSubmissions: number; aheadMs: number } | null;
}

/** MAX_CLOCK_SKEW_SECONDS of both proxies. */
export const MAX_SKEW_SECONDS = 24 * 3_600;

const HOUR_MS = 3_600_000;
const proxy = fc.nat({ max: 1 });
const someTime = fc.integer({ min: 5, max: 120 });

const suspension: fc.Arbitrary<Suspension> = fc.record({
  kind: fc.constant('suspension'),
  victim: proxy,
  afterSubmissions: someTime,
  forSubmissions: fc.integer({ min: 1, max: 60 }),
  settled: fc.boolean(),
  atSend: fc.boolean(),
});

const loss: fc.Arbitrary<Loss> = fc.record({
  kind: fc.constant('loss'),
  afterSubmissions: someTime,
  lostSubmissions: fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 20, max: 100 })),
  restarts: fc.boolean(),
});

const disasters = { none: fc.constant({ kind: 'none' } as const), suspension, loss };

/** Forces one kind for all waves, to test a guard against it more often. */
const only = process.env.MODEL_DISASTER as Disaster['kind'] | undefined;

export const disaster: fc.Arbitrary<Disaster> =
  only === undefined ? fc.oneof(...Object.values(disasters)) : disasters[only];

/** A proxy may be in another day, and pays. Two days off, it is fenced. The other one always pays. */
const bearable = fc.constantFrom(0, 0, 2_000, -2_000, 20 * HOUR_MS, -20 * HOUR_MS);
const unbearable = fc.constantFrom(48 * HOUR_MS, -48 * HOUR_MS);

export const clocks: fc.Arbitrary<Clocks> = fc
  .record({
    one: fc.oneof({ weight: 3, arbitrary: bearable }, { weight: 1, arbitrary: unbearable }),
    other: bearable,
    isSwapped: fc.boolean(),
    step: fc.option(fc.record({ afterSubmissions: someTime, aheadMs: bearable })),
  })
  .map(({ one, other, isSwapped, step }) => ({
    atFirst: isSwapped ? [other, one] : [one, other],
    step: step && { ...step, victim: isSwapped ? 0 : 1 },
  }));

/** Returns whether a proxy with this clock offset refuses payments. */
export function isFencing(aheadMs: number): boolean {
  return Math.abs(aheadMs) > MAX_SKEW_SECONDS * 1_000;
}
