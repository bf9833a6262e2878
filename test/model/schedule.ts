import fc from 'fast-check';
import { LISTED_TYPES, ListedType } from '../../src/sandbox/behaviour/lies';
import { MAGIC, MagicName } from '../../src/sandbox/behaviour/magic-recipients';
import { FAULTS, FaultName } from '../../src/sandbox/faults/table';
import { OperationName } from './bodies';
import { Clocks, clocks, Disaster, disaster } from './disaster';
import { atUpstream, DrawnRequest, SimulatedTreatment, treatment } from './simulated/treatment';

/** Number of concurrent schedules, each with its own client. Killing a process affects all of them. */
export const LANES = 20;

/** One request from the app's view, however often it is sent. */
export interface LogicalRequest {
  kind: 'request';
  operation: OperationName;
  /** Amount of its first item, in tenths of a US dollar. */
  tenths: number;
  items: number;
  keyed: boolean;
  /** Recipient of the first item. Null for an ordinary one. */
  magic: MagicName | null;
  submissions: Submission[];
  /** Concurrent decisions of two approvers on a held call. Undefined leaves it waiting. */
  decisions: ('approve' | 'reject')[];
  /** Its treatment by the simulated upstream. Null for the sandbox. */
  simulated: SimulatedTreatment | null;
}

export interface Submission {
  process: number;
  /** Whether it is sent together with the previous one, not after its answer. */
  concurrent: boolean;
  /** Whether it prefers to be queued (`Prefer: respond-async`). */
  queued: boolean;
}

export interface StopStep {
  kind: 'stop';
  /** Null for the schedule's own client. */
  operation: OperationName | null;
  process: number;
}

/** Lifts the last active stop of this schedule. */
interface LiftStep {
  kind: 'lift';
  process: number;
}

type Step = LogicalRequest | StopStep | LiftStep;

/** In tenths of a US dollar. Null for no limit. */
interface ScheduleLimits {
  dailyCap: number | null;
  monthlyCap: number | null;
  approvalOver: number | null;
  requireIdempotencyKey: boolean;
}

export interface Schedule {
  /** The upstream that its client pays at. */
  upstream: 'sandbox' | 'simulator';
  limits: ScheduleLimits;
  /** Number of concurrent steps. */
  width: number;
  steps: Step[];
  /** Whether a person settles calls in doubt at the end. */
  settlesDoubts: boolean;
}

interface Kill {
  victim: number;
  /** Number of submissions since the beginning of the wave. */
  afterSubmissions: number;
}

/** A fault requested over the control interface. It affects transfers, which have no magic recipients. */
export interface TransferFault {
  fault: FaultName;
  probability: number;
  seed: number;
  processed?: boolean;
  [setting: string]: unknown;
}

export interface Wave {
  schedules: Schedule[];
  kills: Kill[];
  disaster: Disaster;
  clocks: Clocks;
  /** Delay of the faults of magic recipients, in ms. */
  magicMs: number;
  transferFault: TransferFault;
  /** Age at which the upstream lists a transaction of each type, in ms. */
  listedAfterMs: Record<ListedType, number>;
}

const process = fc.nat({ max: 1 });

const FAULT_RECIPIENTS = Object.entries(MAGIC).flatMap(([name, row]) =>
  'fault' in row ? [name as MagicName] : [],
);
const OTHER_RECIPIENTS = Object.entries(MAGIC).flatMap(([name, row]) =>
  'fault' in row ? [] : [name as MagicName],
);

const PAYING: OperationName[] = [
  'POST /payouts/airtime',
  'POST /payouts/mobile-money',
  'POST /payouts/credit',
  'POST /account/transfer',
  'POST /wallets/transfer',
];
const WRITING: OperationName[] = [
  'POST /send',
  'POST /payouts/initiate-credit',
  'POST /collections/mobile-money/collect',
  'POST /sub-account/create',
];
const operation = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...PAYING) },
  { weight: 1, arbitrary: fc.constantFrom(...WRITING) },
);

const request: fc.Arbitrary<DrawnRequest> = fc.record({
  kind: fc.constant('request'),
  operation,
  tenths: fc.integer({ min: 1, max: 20 }),
  items: fc.integer({ min: 1, max: 3 }),
  keyed: fc.nat({ max: 3 }).map((n) => n > 0),
  magic: fc.oneof(
    { weight: 3, arbitrary: fc.constant(null) },
    { weight: 4, arbitrary: fc.constantFrom(...FAULT_RECIPIENTS) },
    { weight: 1, arbitrary: fc.constantFrom(...OTHER_RECIPIENTS) },
  ),
  submissions: fc.array(
    fc.record({ process, concurrent: fc.boolean(), queued: fc.nat({ max: 2 }).map((n) => n === 0) }),
    {
      minLength: 1,
      maxLength: 4,
      size: 'max',
    },
  ),
  decisions: fc.constantFrom(
    [],
    ['approve'],
    ['approve', 'approve'],
    ['approve', 'reject'],
    ['reject', 'reject'],
  ),
  treatment,
});

const step: fc.Arbitrary<DrawnRequest | StopStep | LiftStep> = fc.oneof(
  { weight: 15, arbitrary: request },
  {
    weight: 1,
    arbitrary: fc.record<StopStep>({
      kind: fc.constant('stop'),
      operation: fc.option(fc.constantFrom(...PAYING, ...WRITING), { freq: 2 }),
      process,
    }),
  },
  { weight: 2, arbitrary: fc.record<LiftStep>({ kind: fc.constant('lift'), process }) },
);

const cap = fc.option(fc.integer({ min: 5, max: 80 }), { freq: 2 });

const schedule: fc.Arbitrary<Schedule> = fc
  .record({
    upstream: fc.constantFrom('sandbox', 'simulator'),
    limits: fc.record({
      dailyCap: cap,
      monthlyCap: cap,
      approvalOver: fc.option(fc.integer({ min: 5, max: 20 }), { freq: 2 }),
      requireIdempotencyKey: fc.nat({ max: 5 }).map((n) => n === 0),
    }),
    width: fc.integer({ min: 1, max: 4 }),
    settlesDoubts: fc.boolean(),
    steps: fc.array(step, { minLength: 3, maxLength: 12, size: 'max' }),
  })
  .map(({ steps, ...drawn }) => ({
    ...drawn,
    steps: steps.map((step) => (step.kind === 'request' ? atUpstream(step, drawn.upstream) : step)),
  }));

const transferFault: fc.Arbitrary<TransferFault> = fc
  .record({
    fault: fc.constantFrom(...(Object.keys(FAULTS) as FaultName[])),
    probability: fc.constantFrom(0.3, 0.7),
    seed: fc.nat({ max: 1_000 }),
    processed: fc.boolean(),
    ms: fc.constantFrom(50, 900),
    status: fc.constantFrom(503, 500),
    namingStatus: fc.constantFrom(200, 400, 500),
  })
  .map(({ fault, probability, seed, processed, ms, status, namingStatus }) => {
    const { settings, choosesProcessed } = FAULTS[fault] as { settings?: object; choosesProcessed?: true };
    return {
      fault,
      probability,
      seed,
      ...(choosesProcessed && { processed }),
      ...(settings && 'ms' in settings && { ms }),
      ...(fault === 'lateProcessing' && { status }),
      ...(fault === 'errorNamingTransactions' && { status: namingStatus }),
    };
  });

/** Age at which a list shows a transaction that it hides during its wave, in ms. */
export const NEVER_MS = 600_000;

/** Immediately, within the quiet period, or never. A list that lacks one kind proves nothing. */
const lateness = fc.oneof(
  { weight: 16, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.constantFrom(500, 3_000) },
  { weight: 1, arbitrary: fc.constant(NEVER_MS) },
);
const listedAfterMs = fc.record(
  Object.fromEntries(LISTED_TYPES.map((type) => [type, lateness])) as Record<
    ListedType,
    fc.Arbitrary<number>
  >,
);

/** Without fast-check's preference for small values, because a short schedule shows little. */
export const wave: fc.Arbitrary<Wave> = fc.noBias(
  fc.record({
    schedules: fc.array(schedule, { minLength: LANES, maxLength: LANES }),
    kills: fc.array(fc.record({ victim: process, afterSubmissions: fc.integer({ min: 5, max: 200 }) }), {
      minLength: 1,
      maxLength: 2,
    }),
    disaster,
    clocks,
    magicMs: fc.constantFrom(50, 900),
    transferFault,
    listedAfterMs,
  }),
);
