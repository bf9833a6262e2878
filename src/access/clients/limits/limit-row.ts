/** A limit. Null or an empty list means no limit. Flags are unset in a new client. */
export type LimitRow = RowOfAny & (UsdRow | CountRow | ListRow | FlagRow);

interface RowOfAny {
  /** Its name in the API, and its column. */
  name: string;
  /** Its name in forms. */
  label: string;
  /** A sentence for documents, forms and command help. For a flag, its effect while set. */
  text: string;
  /** Its CLI option. Default: the name without its unit. */
  option?: string;
  /** Whether it depends on other calls. Admission reads such a limit again, under the lock of its client. */
  atAdmission?: true;
  /** Whether apps read it with GET /v1/limits. Default: all except limits of persons. */
  shown?: false;
  /** For limits of each person: the limit of one person that overrides it. */
  replacedBy?: string;
}

interface UsdRow {
  kind: 'usd';
  /** Whether zero is valid. It blocks everything, or everything without an approval. */
  mayBeZero: boolean;
  /** The direction that allows more. */
  expands: 'more' | 'less';
}

interface CountRow {
  kind: 'count';
  most: number;
  expands: 'more' | 'less';
}

interface ListRow {
  kind: 'list';
  words: 'country' | 'address' | 'origin';
  /** The meaning of an empty list. */
  empty: 'any' | 'none';
  example: readonly string[];
}

interface FlagRow {
  kind: 'flag';
  /** The value that allows more. */
  expands: 'set' | 'unset';
}
