/** The interface's own word for the unit that the service moves (interface.md, "Naming note"). */
const NEUTRAL = 'credit';

/** A JSON string with what may make it a name: nothing in valid JSON but a string begins with a quote. */
const STRING = /"(?:[^"\\]|\\.)*"(?=(\s*:)?)/g;

/**
 * Translates between the interface's word and the provider's own one: in the paths `/payouts/credit` and
 * `/payouts/initiate-credit`, and in the field names `credit` and `credits`. Values are left alone.
 */
export class UnitName {
  private readonly toTheirs: ReadonlyMap<string, string>;
  private readonly toOurs: ReadonlyMap<string, string>;

  constructor(private readonly theirs: string) {
    this.toTheirs = new Map([
      [NEUTRAL, theirs],
      [`${NEUTRAL}s`, `${theirs}s`],
    ]);
    this.toOurs = new Map([...this.toTheirs].map(([ours, theirs]) => [theirs, ours]));
  }

  /** @param path with its query, which is left alone. */
  inPath(path: string): string {
    if (this.theirs === NEUTRAL) return path;
    return path.replace(/^([^?]*\/payouts\/(?:initiate-)?)credit(?=$|\?)/, `$1${this.theirs}`);
  }

  /** Renames the body's own fields. What is nested is an item or a caller's free text: the interface has no such field there. */
  inRequest(body: Buffer | null): Buffer | null {
    if (this.theirs === NEUTRAL || body === null) return body;
    const fields = Object.entries(JSON.parse(body.toString('utf8')) as object) as [string, unknown][];
    return Buffer.from(
      JSON.stringify(Object.fromEntries(fields.map(([name, value]) => [this.toTheirs.get(name) ?? name, value]))),
    );
  }

  /**
   * Renames the fields of an answer at any depth, as each transaction has one; all other bytes stay as they are. Where
   * there is nothing to rename, and in what is no JSON, the bytes are the same.
   */
  inResponse(body: Buffer): Buffer {
    if (this.theirs === NEUTRAL || !/^\s*[[{]/.test(body.toString('latin1', 0, 64))) return body;
    const text = body.toString('latin1'); // one character a byte: what is not ASCII survives
    return Buffer.from(
      text.replace(STRING, (string, colon?: string) => {
        const name = colon === undefined ? undefined : this.toOurs.get(nameIn(string));
        return name === undefined ? string : `"${name}"`;
      }),
      'latin1',
    );
  }
}

/** The name that a JSON string spells, escapes resolved. */
function nameIn(string: string): string {
  if (!string.includes('\\')) return string.slice(1, -1);
  try {
    return JSON.parse(string) as string;
  } catch {
    return string; // a control character in it: no JSON
  }
}
