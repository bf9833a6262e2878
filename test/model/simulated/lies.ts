import fc from 'fast-check';
import { Lie, LIES } from '../../support/simulator/lies';

/** Answers that deny a payment, with the envelope of the service or of a gateway in front of it. */
const DENIALS = ['error-200', 'error-400', 'data-error', 'refused-401', 'refused-403', 'limited-429'];

const withAll = (prefix: string, answers: string[]) => answers.map((answer) => `${prefix}-${answer}`);

/** The lies of the upstream by their kind, each under its name in the simulator. */
const KINDS = {
  'a denial of what was paid': withAll('pays', DENIALS),
  'a true denial': withAll('honest', [...DENIALS, 'error-500']),
  'a payment from a queue': withAll('queue', [...DENIALS, 'error-500', 'names-nothing']),
  'a lost answer': ['pays-reset', 'pays-too-late', 'honest-reset', 'queue-reset'],
  'a transaction of another request': ['echoed-row', 'echoed-then-reversed'],
  'a repeated row': ['repeated-unpaid', 'repeated-paid'],
  'a failed row of another recipient': ['foreign-chiref', 'foreign-reference', 'foreign-id'],
  'a success that names nothing': ['pays-names-nothing', 'honest-names-nothing'],
  'a payment after the quiet period': withAll('late-queue', [
    'error-500',
    'error-400',
    'limited-429',
    'reset',
  ]),
} satisfies Record<string, string[]>;

const WEIGHTS: Partial<Record<keyof typeof KINDS, number>> = {
  'a lost answer': 3, // many, so that some share a batch
  'a transaction of another request': 3, // each needs another one
};

/** Share of requests with each kind of lie, in 20ths. The others are answered honestly. */
export const lie: fc.Arbitrary<string | null> = fc.oneof(
  { weight: 5, arbitrary: fc.constant(null) },
  ...Object.entries(KINDS).map(([kind, names]) => ({
    weight: WEIGHTS[kind as keyof typeof KINDS] ?? 2,
    arbitrary: fc.constantFrom(...names),
  })),
);

export const LIE_NAMES: readonly string[] = Object.values(KINDS).flat();

export const HONEST: Lie = { pays: 'all', answer: 'success' };

/** Returns whether the answer never arrives. */
export function isLost({ answer }: Pick<Lie, 'answer'>): boolean {
  return answer === 'reset' || answer === 'too-late';
}

export function lieOf(name: string): Lie {
  const found = LIES[name];
  if (!found) throw new Error(`no lie is named ${name}`);
  return found;
}
