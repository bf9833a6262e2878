import { Present } from '../../operations/lifecycle';
import { VerdictRow } from './resolver-verdicts';

/** Through which eyes records are shown. */
export interface View {
  /** Whether people may be seen (`audit:pii`, or one's own calls). */
  reveal: boolean;
  present: Present;
  clientNames: Map<string, string>;
  /** What the proxy found out by itself, by call. */
  verdicts: ReadonlyMap<string, VerdictRow>;
  /** Whether other calls may be named: not to the app whose call it is. */
  showsOthers: boolean;
}

export function shown<Text extends string | null>(value: Text, reveal: boolean, mask: (value: string) => string) {
  return (value === null || reveal ? value : mask(value)) as Text;
}
