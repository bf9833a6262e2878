import { Client } from '../../platform/database/generated/client';
import { Present } from '../../operations/lifecycle';
import { VerdictRow } from './resolver-verdicts';

/** What a reader may see of records. */
export interface View {
  /** Whether people are shown unmasked (`audit:pii`, or the reader's own calls). */
  reveal: boolean;
  present: Present;
  clients: ReadonlyMap<string, ViewedClient>;
  /** The resolver's verdicts by call. */
  verdicts: ReadonlyMap<string, VerdictRow>;
  /** Whether other calls may be named. The app that owns the call does not see them. */
  showsOthers: boolean;
  /** Whether the reader is one person, who does not learn of the calls of the others. */
  ofPerson: boolean;
}

/** Returns a value as a reader may see it. Null if there is none. */
export function shown(value: string, reveal: boolean, mask: Mask): string;
export function shown(value: string | null | undefined, reveal: boolean, mask: Mask): string | null;
export function shown(value: string | null | undefined, reveal: boolean, mask: Mask): string | null {
  return value === undefined || value === null || reveal ? (value ?? null) : mask(value);
}

/** What records show of a client. */
export type ViewedClient = Pick<Client, 'name' | 'account'>;

type Mask = (value: string) => string;
