/** Days from 1970 to 2000, where Postgres begins to count. */
const EPOCH_MS = Date.UTC(2000, 0, 1);

/** An array up to this size is put together here and copied out; a larger one gets memory of its own. */
const room = Buffer.allocUnsafeSlow(32_768);

/** Dimensions, flags, element type, length, lower bound. */
const HEADER_BYTES = 20;

/** How values of a type are written in an array in PostgreSQL's binary format (array_recv), which knows no quotes to escape. */
export class Encoding<T> {
  /**
   * @param oid of the elements as they travel.
   * @param cast of the parameter.
   * @param most bytes that a value can take.
   * @param write puts a value at a place, and says how many bytes it takes.
   */
  constructor(
    private readonly oid: number,
    readonly cast: string,
    private readonly most: (value: T) => number,
    private readonly write: (into: Buffer, value: T, at: number) => number,
  ) {}

  /** A parameter of a statement. Null and undefined are NULL. */
  array(values: readonly (T | null | undefined)[]): Buffer {
    let most = HEADER_BYTES;
    let nulls = 0;
    for (const value of values) {
      if (value === null || value === undefined) nulls += 1;
      else most += this.most(value);
    }
    most += 4 * values.length;
    const isShort = most <= room.length;
    const into = isShort ? room : Buffer.allocUnsafe(most);
    let at = this.writeHeader(into, values.length, nulls > 0);
    for (const value of values) {
      const isNull = value === null || value === undefined;
      const length = isNull ? -1 : this.write(into, value, at + 4);
      into.writeInt32BE(length, at);
      at += 4 + Math.max(0, length);
    }
    return isShort ? Buffer.from(into.subarray(0, at)) : into.subarray(0, at);
  }

  private writeHeader(into: Buffer, length: number, hasNulls: boolean): number {
    into.writeInt32BE(length === 0 ? 0 : 1, 0);
    into.writeInt32BE(hasNulls ? 1 : 0, 4);
    into.writeInt32BE(this.oid, 8);
    if (length === 0) return 12;
    into.writeInt32BE(length, 12);
    into.writeInt32BE(1, 16);
    return HEADER_BYTES;
  }
}

export type Value<E> = E extends Encoding<infer T> ? T : never;

/** UTF-8 has three bytes at most for each UTF-16 unit; half of a pair becomes U+FFFD. */
const asText = (oid: number, cast: string) =>
  new Encoding<string>(
    oid,
    cast,
    (text) => 3 * text.length,
    (into, text, at) => into.write(text, at),
  );

const TEXT = 25;

/** By the names of PostgreSQL's types. The OIDs are those of its catalog (pg_type.dat), the same in every database. */
export const TYPES = {
  text: asText(TEXT, 'text[]'),
  json: asText(114, 'json[]'),
  numeric: asText(TEXT, 'text[]::numeric[]'),
  date: asText(TEXT, 'text[]::date[]'),
  uuid: new Encoding<string>(2950, 'uuid[]', () => 16, writeUuid),
  bytea: new Encoding<Uint8Array>(
    17,
    'bytea[]',
    (bytes) => bytes.length,
    (into, bytes, at) => {
      into.set(bytes, at);
      return bytes.length;
    },
  ),
  integer: new Encoding<number>(
    23,
    'integer[]',
    () => 4,
    (into, value, at) => into.writeInt32BE(value, at) - at,
  ),
  boolean: new Encoding<boolean>(
    16,
    'boolean[]',
    () => 1,
    (into, value, at) => into.writeUInt8(value ? 1 : 0, at) - at,
  ),
  timestamptz: new Encoding<Date>(
    1184,
    'timestamptz[]',
    () => 8,
    (into, value, at) => into.writeBigInt64BE(BigInt(value.getTime() - EPOCH_MS) * 1_000n, at) - at,
  ),
};

function writeUuid(into: Buffer, id: string, at: number): number {
  const hex = id.replaceAll('-', '');
  if (hex.length !== 32 || into.write(hex, at, 16, 'hex') !== 16) throw new Error('the value is not a UUID');
  return 16;
}
