import { KindName } from '../kinds';

/** A record may be that much older than what was complete when it was sealed: clocks are set, processes sleep. Seconds. */
const LATE_SECONDS = 60;
/** How far the clocks of other machines, which make ids and sign, and of the database may be apart. Seconds. */
export const CLOCKS_APART_SECONDS = 900;

/** How far a record's time may be from where it stands. Erasures and prunings have the clock of who ran the command. */
export function apartOf(kind: KindName): number {
  return kind === 'erasure' || kind === 'pruning' ? CLOCKS_APART_SECONDS : LATE_SECONDS;
}

/** Where something is wrong, as exactly as it can be told. */
export interface Place {
  /** Of the leaf, from 0; of a range, the first. */
  leaf?: number;
  /** The last leaf of a range. */
  to_leaf?: number;
  /** The record's table. */
  kind?: string;
  /** The record's primary key; a call's id where it is one. */
  record_id?: string;
  /** When the record's id was made: for a call, when it was received. ISO 8601. */
  received_at?: string;
}

export interface Fault extends Place {
  /** For machines: `record_changed`, … */
  code: string;
  /** What was found and what that means. */
  meaning: string;
}

/** Ends a verification: the first thing that is wrong. */
export class LogFault extends Error {
  readonly fault: Fault;

  constructor(code: string, meaning: string, place: Place = {}) {
    super(meaning);
    this.fault = { code, meaning, ...place };
  }
}

/** The place of a record, with the time that its id tells. */
export function placeOf(kind: string, recordId: string, leaf?: number): Place {
  const made = timeOfId(recordId);
  const received = Number.isNaN(made) ? {} : { received_at: new Date(made).toISOString() };
  return { ...(leaf !== undefined && { leaf }), kind, record_id: recordId, ...received };
}

/** Milliseconds: the first 48 bits of a UUIDv7 (RFC 9562, section 5.7). */
export function timeOfId(id: string): number {
  const made = parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  return made <= 8.64e15 ? made : NaN;
}
