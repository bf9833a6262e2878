import { KindName } from '../kinds';

/** Tolerance for a record older than its checkpoint allows, in seconds, for set clocks and slow processes. */
const LATE_SECONDS = 60;
/** Tolerance between the clocks of the database and of machines that create IDs or signatures, in seconds. */
export const CLOCKS_APART_SECONDS = 900;

/** Returns the clock tolerance of a kind. Erasures and prunings have the time of the command's machine. */
export function apartOf(kind: KindName): number {
  return kind === 'erasure' || kind === 'pruning' ? CLOCKS_APART_SECONDS : LATE_SECONDS;
}

/** Position of a fault, as exact as possible. */
export interface FaultPosition {
  /** Index of the leaf, from 0, or the first leaf of a range. */
  leaf?: number;
  /** Last leaf of a range. */
  to_leaf?: number;
  /** Table of the record. */
  kind?: string;
  /** Primary key of the record. For a record of a call, the ID of the call. */
  record_id?: string;
  /** Creation time of the record's ID, in ISO 8601. For a call, the time at which it was received. */
  received_at?: string;
}

export interface Fault extends FaultPosition {
  /** Code for programs: `record_changed`, … */
  code: string;
  /** Description of the fault and its meaning. */
  meaning: string;
}

/** The first fault, which ends a verification. */
export class LogFault extends Error {
  readonly fault: Fault;

  constructor(code: string, meaning: string, place: FaultPosition = {}) {
    super(meaning);
    this.fault = { code, meaning, ...place };
  }
}

/** Returns the fault of a row of log_leaves that the sealer cannot have written. */
export function leavesChanged(first: number, kind?: KindName): LogFault {
  const meaning =
    'The sealer cannot have written the row of leaves. Its records must be in order, within its span, and ' +
    'have a hash each.';
  return new LogFault('leaves_changed', meaning, { leaf: first, ...(kind && { kind }) });
}

/** Returns the position of a record, with the time from its ID. */
export function placeOf(kind: string, recordId: string, leaf?: number): FaultPosition {
  const made = timeOfId(recordId);
  const received = Number.isNaN(made) ? {} : { received_at: new Date(made).toISOString() };
  return { ...(leaf !== undefined && { leaf }), kind, record_id: recordId, ...received };
}

/** Returns the milliseconds in the first 48 bits of a UUIDv7 (RFC 9562, section 5.7). */
export function timeOfId(id: string): number {
  const made = parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  return made <= 8.64e15 ? made : NaN;
}
