/** The epoch of Postgres. */
const EPOCH_MS = Date.UTC(2000, 0, 1);

/** A shared buffer for arrays up to this size. Larger arrays get their own memory. */
const room = Buffer.allocUnsafeSlow(32_768);

/** Dimensions, flags, element type, length, lower bound. */
const HEADER_BYTES = 20;

/** Encodes values of a type in PostgreSQL's binary array format (array_recv), which needs no escaping. */
export class Encoding<T> {
  /**
   * @param oid the type of the elements.
   * @param cast the type of the parameter.
   * @param most the most bytes of a value.
   * @param write writes a value at an offset and returns its length.
   */
  constructor(
    private readonly oid: number,
    readonly cast: string,
    private readonly most: (value: T) => number,
    private readonly write: (into: Buffer, value: T, at: number) => number,
  ) {}

  /** Returns a statement parameter. Null and undefined become NULL. */
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

/** UTF-8 has at most three bytes for each UTF-16 unit. A lone surrogate becomes U+FFFD. */
const asText = (oid: number, cast: string) =>
  new Encoding<string>(
    oid,
    cast,
    (text) => 3 * text.length,
    (into, text, at) => into.write(text, at),
  );

const TEXT = 25;

/** Encodings by PostgreSQL type name. The OIDs are constants of its catalog (pg_type.dat). */
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

/** The values of hexadecimal digits, by their code. Others have -1. */
const DIGITS = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()),
);
const HYPHEN = 45;

/** Writes a UUID digit by digit, in a tenth of the time of removing the hyphens first. */
function writeUuid(into: Buffer, id: string, at: number): number {
  let digits = 0;
  let byte = 0;
  for (let place = 0; place < id.length; place += 1) {
    const code = id.charCodeAt(place);
    if (code === HYPHEN) continue;
    const digit = DIGITS[code] ?? -1;
    if (digit < 0 || digits === 32) throw new Error('the value is not a UUID');
    byte = (byte << 4) | digit;
    digits += 1;
    if (digits % 2 === 0) into[at + digits / 2 - 1] = byte & 0xff;
  }
  if (digits !== 32) throw new Error('the value is not a UUID');
  return 16;
}
