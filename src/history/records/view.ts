import { Present } from '../../operations/lifecycle';
import { VerdictRow } from './resolver-verdicts';

/** What a reader may see of records. */
export interface View {
  /** Whether people are shown unmasked (`audit:pii`, or the reader's own calls). */
  reveal: boolean;
  present: Present;
  clientNames: Map<string, string>;
  /** The resolver's verdicts by call. */
  verdicts: ReadonlyMap<string, VerdictRow>;
  /** Whether other calls may be named. The app that owns the call does not see them. */
  showsOthers: boolean;
}

export function shown<Text extends string | null>(value: Text, reveal: boolean, mask: (value: string) => string) {
  return (value === null || reveal ? value : mask(value)) as Text;
}
