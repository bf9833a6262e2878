import { Present } from './outcome';

/** Through which eyes records are shown. */
export interface View {
  /** Whether people may be seen (`audit:pii`, or one's own calls). */
  reveal: boolean;
  present: Present;
  clientNames: Map<string, string>;
}

export function shown<Text extends string | null>(value: Text, reveal: boolean, mask: (value: string) => string) {
  return (value === null || reveal ? value : mask(value)) as Text;
}
