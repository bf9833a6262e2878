import { isObject } from './rules';

const OURS = 'credit';

/**
 * Translates the service's own word for its unit. docs/reference/upstream.md writes `credit` in its place: in
 * the paths /payouts/credit and /payouts/initiate-credit and in the field names `credit` and `credits`.
 * Inside the sandbox it is always `credit`.
 */
export class UnitName {
  private readonly outward: Map<string, string>;
  private readonly inward: Map<string, string>;

  constructor(private readonly word: string) {
    const names: [string, string][] = [
      [OURS, word],
      [`${OURS}s`, `${word}s`],
      [`/payouts/${OURS}`, `/payouts/${word}`],
      [`/payouts/initiate-${OURS}`, `/payouts/initiate-${word}`],
    ];
    this.outward = new Map(names);
    this.inward = new Map(names.map(([ours, theirs]) => [theirs, ours]));
  }

  /** Returns a path below the prefix as callers write it. */
  pathOutside(path: string): string {
    return this.outward.get(path) ?? path;
  }

  /**
   * Returns a path below the prefix in the interface's words. The interface's word is no valid path if the
   * service has another.
   */
  pathInside(path: string): string {
    return this.inward.get(path) ?? path;
  }

  /** Returns a request's body with its fields in the interface's words. */
  bodyInside(body: unknown): unknown {
    if (this.word === OURS || !isObject(body)) return body;
    // If the service has another word, fields with the interface's word are unknown, like every unknown
    // field.
    const known = Object.entries(body).filter(([name]) => !this.outward.has(name));
    return Object.fromEntries(known.map(([name, value]) => [this.inward.get(name) ?? name, value]));
  }

  /** Returns an answer with its fields, and with errors that name fields, in the service's own word. */
  answerOutside(answer: unknown): unknown {
    if (this.word === OURS) return answer;
    if (isObject(answer) && answer.status === 'error' && typeof answer.error === 'string')
      return { ...answer, error: answer.error.replace(/^credit(?=s?\b)/, this.word) };
    return this.rename(answer);
  }

  private rename(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.rename(item));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      // `meta` belongs to the caller.
      Object.entries(value).map(([name, field]) => [
        this.outward.get(name) ?? name,
        name === 'meta' ? field : this.rename(field),
      ]),
    );
  }
}
