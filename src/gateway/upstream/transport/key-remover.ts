const REMOVED = '[key removed]';

/**
 * Removes secrets from foreign text. An upstream may quote our key ("key … is not valid"). The proxy must not
 * pass it on or record it, in any spelling of JSON or URLs.
 */
export class KeyRemover {
  private readonly keys: string[] = [];
  private pattern = /(?!)/g;

  constructor(...keys: string[]) {
    for (const key of keys) this.add(key);
  }

  /** Adds a key to remove. */
  add(key: string): void {
    if (this.keys.includes(key)) return;
    this.keys.push(key);
    this.keys.sort((a, b) => b.length - a.length); // a key may begin with another
    this.pattern = new RegExp(this.keys.map((text) => Array.from(text, spellings).join('')).join('|'), 'g');
  }

  fromText(text: string): string {
    return text.replace(this.pattern, REMOVED);
  }

  /** Returns the same bytes if there is nothing to remove. */
  fromBytes(bytes: Buffer): Buffer {
    // Most answers contain neither an escape nor the key. Searching bytes is much faster than decoding text.
    if (
      !bytes.includes('\\') &&
      !bytes.includes('%') &&
      !this.keys.some((key) => bytes.includes(key, 0, 'latin1'))
    )
      return bytes;
    const text = bytes.toString('latin1');
    return text.search(this.pattern) < 0 ? bytes : Buffer.from(this.fromText(text), 'latin1');
  }
}

/** Matches a character as itself, escaped in JSON (`\u002f`, `\/`) or escaped in a URL (`%2F`). */
function spellings(character: string): string {
  const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
  const anyCase = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const literal = character.replace(/[^A-Za-z0-9]/g, '\\$&');
  const escaped = /["/\\]/.test(character) ? '\\\\?' : '';
  return `(?:${escaped}${literal}|\\\\u00${anyCase}|%${anyCase})`;
}
