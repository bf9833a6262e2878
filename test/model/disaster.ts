import fc from 'fast-check';

/** A proxy that stands still, as a suspended machine does, and wakes up. */
export interface Suspension {
  kind: 'suspension';
  victim: number;
  afterSubmissions: number;
  /** It wakes up after so many more, or once nobody else has anything to do. */
  forSubmissions: number;
  /** The database loses sight of it, and people settle its calls on the other proxy meanwhile. */
  settled: boolean;
  /** It stops right before the first byte of a request, which was admitted. Otherwise at any moment. */
  atSend: boolean;
}

/** A database that comes back from the past. With few lost submissions, only its last commits are lost. */
export interface Loss {
  kind: 'loss';
  afterSubmissions: number;
  lostSubmissions: number;
  /** Whether the proxies are restarted while the database is recovered. */
  restarts: boolean;
}

/** In a wave, one of these befalls all its schedules. */
export type Disaster = { kind: 'none' } | Suspension | Loss;

/** The wall clocks of the two proxies, by how much they are ahead. Milliseconds. */
export interface Clocks {
  atFirst: [number, number];
  /** One of them is set while it runs. */
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

/** All waves have this one, so that a guard against it is tried more often. */
const only = process.env.MODEL_DISASTER as Disaster['kind'] | undefined;

export const disaster: fc.Arbitrary<Disaster> =
  only === undefined ? fc.oneof(...Object.values(disasters)) : disasters[only];

/** A proxy may be in another day, and pays. Two days away, it is fenced. The other one pays in any case. */
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

/** Whether a proxy whose clock is so much ahead refuses payments. */
export function isFencing(aheadMs: number): boolean {
  return Math.abs(aheadMs) > MAX_SKEW_SECONDS * 1_000;
}
