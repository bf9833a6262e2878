/** A body that is no listing: broken JSON, no list, two of them, or one element larger than any transaction. */
export class NotAListing extends Error {}

/** A batch is parsed at once: large enough that a call of the parser costs nothing beside it, small beside what else is held. */
const BATCH_BYTES = 65_536;

/** More than any transaction has, and than all that stands around the list. */
const MAX_ELEMENT_BYTES = 1_048_576;
const MAX_AROUND_BYTES = 1_048_576;

/** A list under the name `data`, in the body or in the body's own `data`. An escaped quote before it would make it another name. */
const NAMED_DATA = /(?<!\\)"data"\s*:\s*$/;

/** Of what stands before a list: room for its name, and for how it is set off. */
const TAIL_BYTES = 64;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Takes a body `{…, "data": [ … ]}` or `{…, "data": {…, "data": [ … ]}}` apart as its bytes come, however they are cut: the
 * list's elements are handed out in batches, what stands around them is kept. Only strings and depth are followed here;
 * JSON.parse reads each batch and the rest, and so judges every byte.
 */
export class ListingSplitter {
  private depth = 0;
  private inString = false;
  private escaped = false;
  /** The depth at which the list's elements are parted by commas; 0: it has not begun, or is over. */
  private listDepth = 0;
  private found = false;
  private dataOpened = false;
  private afterComma = false;
  private around: Buffer[] = [];
  private aroundBytes = 0;
  private elements: Buffer[] = [];
  private elementsBytes = 0;

  /** @param read gives the elements of a batch: JSON.parse, and what else is to be done with its text. */
  constructor(private readonly read: (text: string) => unknown[] = (text) => JSON.parse(text) as unknown[]) {}

  /**
   * @returns the batches that became whole with these bytes.
   * @throws NotAListing
   */
  push(chunk: Buffer): unknown[][] {
    const batches: unknown[][] = [];
    let from = 0; // of what is not put away yet
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (this.inString) {
        if (this.escaped) this.escaped = false;
        else if (byte === BACKSLASH) this.escaped = true;
        else if (byte === QUOTE) this.inString = false;
      } else if (byte === QUOTE) this.inString = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (this.beginsList(byte, chunk, from, at)) {
          this.putAway(chunk.subarray(from, at + 1));
          from = at + 1;
          this.listDepth = this.depth + 1;
          this.found = true;
        }
        this.depth++;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        if (this.listDepth > 0 && this.depth === this.listDepth) {
          if (byte !== CLOSE_ARRAY) throw new NotAListing('the list ends with a brace');
          this.putAway(chunk.subarray(from, at));
          from = at;
          batches.push(this.take(this.afterComma));
          this.listDepth = 0;
        }
        this.depth--;
      } else if (byte === COMMA && this.depth === this.listDepth && this.listDepth > 0) {
        if (this.elementsBytes + at - from < BATCH_BYTES) continue;
        this.putAway(chunk.subarray(from, at));
        from = at + 1;
        batches.push(this.take(true));
        this.afterComma = true;
      }
    }
    this.putAway(chunk.subarray(from));
    return batches;
  }

  /** Whether there was a list. */
  get listed(): boolean {
    return this.found;
  }

  /**
   * What stood around the list, which is empty in it; of a body without one, all of it.
   * @throws NotAListing, also where the body broke off.
   */
  end(): unknown {
    if (this.listDepth > 0) throw new NotAListing('it broke off');
    const around = parse(Buffer.concat(this.around), (text) => JSON.parse(text) as unknown);
    if (this.found && !hasList(around)) throw new NotAListing('the name of the list is said twice');
    return around;
  }

  private beginsList(byte: number, chunk: Buffer, from: number, at: number): boolean {
    if (this.listDepth > 0 || this.depth === 0 || this.depth > 2) return false;
    const named = NAMED_DATA.test(this.tail(chunk.subarray(from, at)));
    if (this.depth === 1) this.dataOpened = named && byte === OPEN_OBJECT;
    if (!named || byte !== OPEN_ARRAY || (this.depth === 2 && !this.dataOpened)) return false;
    if (this.found) throw new NotAListing('two lists');
    return true;
  }

  /** The last bytes before a place around the list. */
  private tail(before: Buffer): string {
    const bytes = before.length < TAIL_BYTES ? Buffer.concat([...this.around.slice(-TAIL_BYTES), before]) : before;
    return bytes.subarray(-TAIL_BYTES).toString('latin1');
  }

  private putAway(bytes: Buffer): void {
    if (bytes.length === 0) return;
    const copy = Buffer.from(bytes); // what is held must not hold a whole chunk of the network
    if (this.listDepth > 0) {
      this.elements.push(copy);
      this.elementsBytes += copy.length;
      if (this.elementsBytes > BATCH_BYTES + MAX_ELEMENT_BYTES) throw new NotAListing('a huge element');
    } else {
      this.around.push(copy);
      this.aroundBytes += copy.length;
      if (this.aroundBytes > MAX_AROUND_BYTES) throw new NotAListing('too much around the list');
    }
  }

  private take(needed: boolean): unknown[] {
    const bytes = Buffer.concat(this.elements, this.elementsBytes);
    this.elements = [];
    this.elementsBytes = 0;
    const batch = parse(bytes, (text) => this.read(`[${text}]`));
    // A comma that we took away stood between two elements.
    if (needed && batch.length === 0) throw new NotAListing('a comma without an element');
    return batch;
  }
}

function hasList(around: unknown): boolean {
  const { data } = around as { data?: { data?: unknown } | null };
  return Array.isArray(data) || Array.isArray(data?.data);
}

function parse<Value>(bytes: Buffer, read: (text: string) => Value): Value {
  try {
    return read(bytes.toString('utf8'));
  } catch {
    throw new NotAListing('no JSON'); // the parser's own words quote the body
  }
}
