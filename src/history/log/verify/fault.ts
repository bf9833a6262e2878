import { KindName } from '../kinds';

/**
 * Tolerance for a record that is older than the sealed checkpoint allows, in seconds: clocks are set and processes
 * sleep.
 */
const LATE_SECONDS = 60;
/** Tolerance between the clocks of the database and of machines that make IDs and sign, in seconds. */
export const CLOCKS_APART_SECONDS = 900;

/** Returns the time tolerance of a kind. Erasures and prunings use the clock of the machine that ran the command. */
export function apartOf(kind: KindName): number {
  return kind === 'erasure' || kind === 'pruning' ? CLOCKS_APART_SECONDS : LATE_SECONDS;
}

/** Where a fault is, as exactly as possible. */
export interface Place {
  /** The index of the leaf, from 0. The first leaf of a range. */
  leaf?: number;
  /** The last leaf of a range. */
  to_leaf?: number;
  /** The table of the record. */
  kind?: string;
  /** The primary key of the record: a call's ID, if it belongs to a call. */
  record_id?: string;
  /** When the ID of the record was made. For a call, when it was received. ISO 8601. */
  received_at?: string;
}

export interface Fault extends Place {
  /** The code, for programs: `record_changed`, … */
  code: string;
  /** The fault and its meaning, for people. */
  meaning: string;
}

/** Ends a verification with the first fault. */
export class LogFault extends Error {
  readonly fault: Fault;

  constructor(code: string, meaning: string, place: Place = {}) {
    super(meaning);
    this.fault = { code, meaning, ...place };
  }
}

/** Reports a row of log_leaves that only somebody else can have written. */
export function leavesChanged(first: number, kind?: KindName): LogFault {
  const meaning =
    'The row of leaves is not as the sealer writes it. Its records must be in order, within its span, and have a hash each.';
  return new LogFault('leaves_changed', meaning, { leaf: first, ...(kind && { kind }) });
}

/** Returns the place of a record, with the time from its ID. */
export function placeOf(kind: string, recordId: string, leaf?: number): Place {
  const made = timeOfId(recordId);
  const received = Number.isNaN(made) ? {} : { received_at: new Date(made).toISOString() };
  return { ...(leaf !== undefined && { leaf }), kind, record_id: recordId, ...received };
}

/** Returns the milliseconds in the first 48 bits of a UUIDv7 (RFC 9562, section 5.7). */
export function timeOfId(id: string): number {
  const made = parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  return made <= 8.64e15 ? made : NaN;
}
