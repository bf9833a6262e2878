import { parseJson } from './answer';
import { FREE_FORM } from './fields';

/** The interface's own word for the unit of the service (docs/reference/upstream.md, "The unit's name"). */
const NEUTRAL = 'credit';

/** The relevant parts of a JSON text: brackets, and strings, which are names if a colon follows. */
const TOKEN = /[{}[\]]|"(?:[^"\\]|\\.)*"(\s*:)?/g;

/**
 * Translates between the interface's word and the provider's own: in the paths `/payouts/credit` and
 * `/payouts/initiate-credit`, and in the field names `credit` and `credits`. Never changes values, such as
 * errors.
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

  /** @param path may have a query, which is unchanged. */
  inPath(path: string): string {
    if (this.theirs === NEUTRAL) return path;
    return path.replace(/^([^?]*\/payouts\/(?:initiate-)?)credit(?=$|\?)/, `$1${this.theirs}`);
  }

  /**
   * Renames the body's own fields. Nested fields belong to an item or to a caller's free text, where the
   * interface has no such field.
   */
  inRequest(body: Buffer | null): Buffer | null {
    if (this.theirs === NEUTRAL || body === null) return body;
    const fields = Object.entries(JSON.parse(body.toString('utf8')) as object) as [string, unknown][];
    return Buffer.from(
      JSON.stringify(
        Object.fromEntries(fields.map(([name, value]) => [this.toTheirs.get(name) ?? name, value])),
      ),
    );
  }

  /**
   * Renames the fields of an answer at any depth, because each transaction has one, except within free-form
   * fields. All other bytes stay unchanged, and so does text that is not JSON.
   */
  inResponse(body: Buffer): Buffer {
    if (this.theirs === NEUTRAL || parseJson(body) === undefined) return body;
    let depth = 0;
    let freeBelow = Infinity; // deeper names are inside a free-form field
    const text = body.toString('latin1'); // one character per byte preserves bytes outside ASCII
    const renamed = text.replace(TOKEN, (token, colon?: string) => {
      if (token === '{' || token === '[') depth++;
      if (token === '}' || token === ']') depth--;
      if (depth < freeBelow) freeBelow = Infinity;
      if (colon === undefined || depth > freeBelow) return token;
      const name = nameIn(token.slice(0, -colon.length));
      freeBelow = name === FREE_FORM ? depth : Infinity;
      const ours = this.toOurs.get(name);
      return ours === undefined ? token : `"${ours}"${colon}`;
    });
    return Buffer.from(renamed, 'latin1');
  }
}

/** Returns the name that a string of valid JSON spells, with its escapes resolved. */
function nameIn(string: string): string {
  return string.includes('\\') ? (JSON.parse(string) as string) : string.slice(1, -1);
}
