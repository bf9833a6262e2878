import type { TrueState } from './ledger';

/** How a request to pay is answered, whatever really happened. `answers.ts` has each behaviour. */
const ANSWERS = [
  'error-500',
  'error-v2',
  'html-500',
  'html-502',
  'error-200',
  'error-400',
  'refused-401',
  'refused-403',
  'limited-429',
  'empty-204',
  'data-error',
  'names-nothing',
  'cut-body',
  'garbage',
  'hang-in-body',
  'reset',
  'too-late',
] as const;
export type AnswerLie = (typeof ANSWERS)[number];

/** The payments that a request really causes. */
export type Pays = 'all' | 'none' | 'queued' | 'queued-long' | 'all-but-last' | 'twice';

/** How the rows of an answer differ from what happened. */
type RowLie = 'some' | 'some-silently' | 'repeated' | 'reversed' | 'echoed' | 'surplus';

export type TimeForm = 'iso' | 'epoch-ms' | 'epoch-s' | 'local' | 'offset' | 'rfc2822' | 'firestore';

/** How every row of an account is written, in answers and in lists. */
export interface RowForm {
  time?: TimeForm;
  phone?: 'without-plus';
  amount?: 'rounded' | 'net' | 'local-text';
  /** Returns the word that the upstream shows for a state. */
  word?: 'unknown' | 'padded' | 'unknown-first';
}

/** How the list of transactions lies, until the test makes it current. */
type ListingLie = 'late' | 'cut' | 'ascending' | 'empty' | 'html';

/** A row of another party that the list shows under a name of ours. */
export type ForeignRow = 'same-chiref' | 'same-reference' | 'same-id';

/** One behaviour of the upstream, by a name that is also the name of its account. */
export interface Lie {
  pays: Pays;
  answer: AnswerLie | 'success';
  rows?: RowLie;
  form?: RowForm;
  /** The states of each payment, one after the other. */
  life?: readonly TrueState[];
  listing?: ListingLie;
  foreign?: ForeignRow;
  feeUsd?: number;
  /** The fee that the list shows later. */
  laterFeeUsd?: number;
  /** Some requests pay nothing and get an error 500, and some lose their answer. */
  mixed?: true;
  /** Items of each request. Absent for one or three. */
  items?: number;
  /** Nothing that the upstream shows in time proves what it does, so nobody can avoid a second payment. */
  unknowable?: true;
  /** A person may have to decide, because the rows do not show which payouts they are. */
  mayStayInDoubt?: true;
}

const SUCCESS = { pays: 'all', answer: 'success' } as const;

const errors = Object.fromEntries(
  ANSWERS.flatMap((answer): [string, Lie][] => [
    [`pays-${answer}`, { pays: 'all', answer }],
    [`honest-${answer}`, { pays: 'none', answer }],
    [`queue-${answer}`, { pays: 'queued', answer }],
  ]),
);

const queues = Object.fromEntries(
  (['error-500', 'error-400', 'limited-429', 'reset'] as const).map((answer): [string, Lie] => [
    `late-queue-${answer}`,
    { pays: 'queued-long', answer, unknowable: true },
  ]),
);

const rows: Record<string, Lie> = {
  'but-one-500': { pays: 'all-but-last', answer: 'error-500', items: 3 },
  'but-one-200': { ...SUCCESS, pays: 'all-but-last', rows: 'some', items: 3 },
  'but-one-silently': { ...SUCCESS, pays: 'all-but-last', rows: 'some-silently', items: 3 },
  'repeated-unpaid': { ...SUCCESS, pays: 'all-but-last', rows: 'repeated', items: 3 },
  'repeated-paid': { ...SUCCESS, rows: 'repeated', items: 3 },
  'reversed-rows': { ...SUCCESS, rows: 'reversed', items: 3 },
  'echoed-row': { ...SUCCESS, rows: 'echoed', items: 1 },
  'echoed-then-reversed': { ...SUCCESS, rows: 'echoed', life: ['paid', 'reversed'], items: 1 },
  'paid-twice': { ...SUCCESS, pays: 'twice' },
  'paid-twice-named': { ...SUCCESS, pays: 'twice', rows: 'surplus' },
  'paid-twice-error-500': { pays: 'twice', answer: 'error-500' },
  'foreign-chiref': { ...SUCCESS, foreign: 'same-chiref' },
  'foreign-reference': { ...SUCCESS, foreign: 'same-reference' },
  'foreign-id': { ...SUCCESS, foreign: 'same-id' },
};

const AMOUNTS = ['rounded', 'net', 'local-text'] as const;
const TIMES = ['epoch-ms', 'epoch-s', 'local', 'offset', 'rfc2822', 'firestore'] as const;
const DOUBTFUL = { mayStayInDoubt: true } as const;
const FAILS: Partial<Lie> = { life: ['pending', 'failed'] };

const forms: Record<string, Lie> = {
  'no-plus': { ...SUCCESS, form: { phone: 'without-plus' } },
  'no-plus-fails': { ...SUCCESS, form: { phone: 'without-plus' }, ...FAILS },
  'no-plus-lost': { pays: 'all', answer: 'reset', form: { phone: 'without-plus' } },
  ...Object.fromEntries(
    AMOUNTS.flatMap((amount): [string, Lie][] => {
      const lie: Lie = { ...SUCCESS, form: { amount }, feeUsd: 0.02 };
      return [
        [`amount-${amount}`, lie],
        [`amount-${amount}-fails`, { ...lie, ...FAILS }],
        [`amount-${amount}-lost`, { ...lie, answer: 'reset', ...DOUBTFUL }],
      ];
    }),
  ),
  ...Object.fromEntries(
    TIMES.flatMap((time): [string, Lie][] => [
      [`time-${time}`, { ...SUCCESS, form: { time } }],
      [`time-${time}-mixed`, { ...SUCCESS, form: { time }, mixed: true }],
    ]),
  ),
  'word-unknown': { ...SUCCESS, form: { word: 'unknown' }, ...DOUBTFUL },
  'word-unknown-first': { ...SUCCESS, form: { word: 'unknown-first' } },
  'word-padded': { ...SUCCESS, form: { word: 'padded' }, mixed: true },
};

const LIVES: Record<string, readonly TrueState[]> = {
  'pending-paid': ['pending', 'paid'],
  'pending-failed': ['pending', 'failed'],
  'paid-reversed': ['paid', 'reversed'],
  'paid-refunded': ['paid', 'refunded'],
  'to-and-fro': ['pending', 'failed', 'paid', 'reversed', 'paid'],
};

const lives = Object.fromEntries(
  Object.entries(LIVES).flatMap(([name, life]): [string, Lie][] => [
    [name, { ...SUCCESS, life }],
    [`${name}-lost`, { pays: 'all', answer: 'reset', life }],
    [`${name}-error-400`, { pays: 'all', answer: 'error-400', life }],
  ]),
);

const listings = Object.fromEntries(
  (['late', 'cut', 'ascending', 'empty', 'html'] as const).map((listing): [string, Lie] => [
    `listing-${listing}`,
    { ...SUCCESS, mixed: true, listing },
  ]),
);

/** All behaviours by name. */
export const LIES: Readonly<Record<string, Lie>> = {
  none: SUCCESS,
  mixed: { ...SUCCESS, mixed: true },
  ...errors,
  ...queues,
  ...rows,
  ...forms,
  ...lives,
  ...listings,
  'fee-changes': { ...SUCCESS, feeUsd: 0.01, laterFeeUsd: 0.03 },
};
