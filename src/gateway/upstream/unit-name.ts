import { parseJson } from './answer';
import { FREE_FORM } from './free-form';

/** The interface's own word for the unit that the service moves (docs/reference/upstream.md, "The unit's name"). */
const NEUTRAL = 'credit';

/** What matters of a JSON text, if it is one: brackets, and strings, which are names where a colon follows. */
const TOKEN = /[{}[\]]|"(?:[^"\\]|\\.)*"(\s*:)?/g;

/**
 * Translates between the interface's word and the provider's own one: in the paths `/payouts/credit` and
 * `/payouts/initiate-credit`, and in the field names `credit` and `credits`. Values are left alone, texts of errors included.
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
   * Renames the fields of an answer at any depth, as each transaction has one, but not within free-form fields. All other
   * bytes stay as they are; what is no JSON stays whole.
   */
  inResponse(body: Buffer): Buffer {
    if (this.theirs === NEUTRAL || parseJson(body) === undefined) return body;
    let depth = 0;
    let freeBelow = Infinity; // what is deeper stands in a free-form field
    const text = body.toString('latin1'); // one character a byte: what is not ASCII survives
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

/** The name that a string of valid JSON spells, escapes resolved. */
function nameIn(string: string): string {
  return string.includes('\\') ? (JSON.parse(string) as string) : string.slice(1, -1);
}
