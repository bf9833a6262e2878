import { readExactJson } from '../../../platform/json/exact-json';

/** Not a listing: broken JSON, no list, two lists, or an element larger than any transaction. */
export class MalformedListing extends Error {}

/** Bytes per parsed batch. Large enough to make a parser call negligible, and small next to other buffers. */
const BATCH_BYTES = 65_536;

/** Above the size of any transaction, and of the envelope. */
const MAX_ELEMENT_BYTES = 1_048_576;
const MAX_ENVELOPE_BYTES = 1_048_576;

/**
 * A list named `data`, in the body or in its own `data`. An escaped quote before it would make another name.
 */
const NAMED_DATA = /(?<!\\)"data"\s*:\s*$/;

/** Bytes kept before a list: its name and separators. */
const TAIL_BYTES = 64;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Splits a body `{…, "data": [ … ]}` or `{…, "data": {…, "data": [ … ]}}` while its bytes arrive, in chunks
 * of any size. Returns the elements of the list in batches, and keeps the envelope. This class tracks
 * only strings and depth. readExactJson parses each batch and the rest, and so checks every byte.
 */
export class ListingSplitter {
  private depth = 0;
  private inString = false;
  private escaped = false;
  /** The depth at which commas separate the list's elements. 0 outside of the list. */
  private listDepth = 0;
  private found = false;
  private dataOpened = false;
  private afterComma = false;
  private envelope: Buffer[] = [];
  private envelopeBytes = 0;
  private elements: Buffer[] = [];
  private elementsBytes = 0;

  /** @param read parses a batch: readExactJson, and any other work on its text. */
  constructor(
    private readonly read: (text: string) => unknown[] = (text) => readExactJson(text) as unknown[],
  ) {}

  /**
   * Adds bytes.
   * @returns the completed batches.
   * @throws MalformedListing
   */
  push(chunk: Buffer): unknown[][] {
    const batches: unknown[][] = [];
    let from = 0; // start of the unstored bytes
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (this.inString) {
        if (this.escaped) this.escaped = false;
        else if (byte === BACKSLASH) this.escaped = true;
        else if (byte === QUOTE) this.inString = false;
      } else if (byte === QUOTE) this.inString = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (this.beginsList(byte, chunk, from, at)) {
          this.store(chunk.subarray(from, at + 1));
          from = at + 1;
          this.listDepth = this.depth + 1;
          this.found = true;
        }
        this.depth++;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        if (this.listDepth > 0 && this.depth === this.listDepth) {
          if (byte !== CLOSE_ARRAY) throw new MalformedListing('the list ends with a brace');
          this.store(chunk.subarray(from, at));
          from = at;
          batches.push(this.take(this.afterComma));
          this.listDepth = 0;
        }
        this.depth--;
      } else if (byte === COMMA && this.depth === this.listDepth && this.listDepth > 0) {
        if (this.elementsBytes + at - from < BATCH_BYTES) continue;
        this.store(chunk.subarray(from, at));
        from = at + 1;
        batches.push(this.take(true));
        this.afterComma = true;
      }
    }
    this.store(chunk.subarray(from));
    return batches;
  }

  /** Whether there was a list. */
  get listed(): boolean {
    return this.found;
  }

  /**
   * Returns the envelope with an empty list. Without a list, the whole body.
   * @throws MalformedListing, also for an incomplete body.
   */
  end(): unknown {
    if (this.listDepth > 0) throw new MalformedListing('it broke off');
    const envelope = parse(Buffer.concat(this.envelope), readExactJson);
    if (this.found && !hasList(envelope)) throw new MalformedListing('two members with the name of the list');
    return envelope;
  }

  private beginsList(byte: number, chunk: Buffer, from: number, at: number): boolean {
    if (this.listDepth > 0 || this.depth === 0 || this.depth > 2) return false;
    const named = NAMED_DATA.test(this.tail(chunk.subarray(from, at)));
    if (this.depth === 1) this.dataOpened = named && byte === OPEN_OBJECT;
    if (!named || byte !== OPEN_ARRAY || (this.depth === 2 && !this.dataOpened)) return false;
    if (this.found) throw new MalformedListing('two lists');
    return true;
  }

  /** Returns the last bytes of the envelope before a position. */
  private tail(before: Buffer): string {
    const bytes =
      before.length < TAIL_BYTES ? Buffer.concat([...this.envelope.slice(-TAIL_BYTES), before]) : before;
    return bytes.subarray(-TAIL_BYTES).toString('latin1');
  }

  private store(bytes: Buffer): void {
    if (bytes.length === 0) return;
    const copy = Buffer.from(bytes); // a slice would retain a whole network chunk
    if (this.listDepth > 0) {
      this.elements.push(copy);
      this.elementsBytes += copy.length;
      if (this.elementsBytes > BATCH_BYTES + MAX_ELEMENT_BYTES) throw new MalformedListing('a huge element');
    } else {
      this.envelope.push(copy);
      this.envelopeBytes += copy.length;
      if (this.envelopeBytes > MAX_ENVELOPE_BYTES) throw new MalformedListing('a huge envelope');
    }
  }

  private take(needed: boolean): unknown[] {
    const bytes = Buffer.concat(this.elements, this.elementsBytes);
    this.elements = [];
    this.elementsBytes = 0;
    const batch = parse(bytes, (text) => this.read(`[${text}]`));
    // The removed comma separated two elements.
    if (needed && batch.length === 0) throw new MalformedListing('a comma without an element');
    return batch;
  }
}

function hasList(envelope: unknown): boolean {
  const { data } = envelope as { data?: { data?: unknown } | null };
  return Array.isArray(data) || Array.isArray(data?.data);
}

function parse<Value>(bytes: Buffer, read: (text: string) => Value): Value {
  try {
    return read(bytes.toString('utf8'));
  } catch {
    throw new MalformedListing('no JSON'); // the parser's message quotes the body
  }
}
