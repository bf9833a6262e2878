/** A limit. Null or an empty list means no limit. A flag is not set in a new client. */
export type LimitRow = RowOfAny & (UsdRow | CountRow | ListRow | FlagRow);

interface RowOfAny {
  /** Its name in the API, and its column. */
  name: string;
  /** Its name in forms. */
  label: string;
  /** A sentence for documents, forms and the help of commands. That of a flag states what holds while it is set. */
  text: string;
  /** Its option, if not the name without its unit. */
  option?: string;
  /** Whether it depends on other calls. Admission then reads it again, with the lock of its client. */
  atAdmission?: true;
  /** Whether an app reads it with GET /v1/limits. Default: apps read all but those of persons. */
  shown?: false;
  /** For the limits of each person: the limit of one person that applies instead. */
  replacedBy?: string;
}

interface UsdRow {
  kind: 'usd';
  /** Whether zero is an amount. It lets nothing through, or nothing without an approval. */
  mayBeZero: boolean;
  /** The values that allow more than others. */
  widens: 'more' | 'less';
}

interface CountRow {
  kind: 'count';
  most: number;
  widens: 'more' | 'less';
}

interface ListRow {
  kind: 'list';
  words: 'country' | 'address' | 'origin';
  /** What an empty list allows. */
  empty: 'any' | 'none';
  example: readonly string[];
}

interface FlagRow {
  kind: 'flag';
  /** Whether the flag allows more while it is set, or while it is not. */
  widens: 'set' | 'unset';
}
