import { isObject } from './rules';

const OURS = 'credit';

/**
 * Translates the service's word for its unit in the paths /payouts/credit and /payouts/initiate-credit and in
 * the fields `credit` and `credits`. docs/reference/upstream.md and this code use `credit`.
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

  /** Returns a path below the prefix in the interface's words. */
  pathInside(path: string): string {
    return this.inward.get(path) ?? path;
  }

  /** Returns a request's body with its fields in the interface's words. */
  bodyInside(body: unknown): unknown {
    if (this.word === OURS || !isObject(body)) return body;
    // The interface's word is an unknown field for a service with another word.
    const known = Object.entries(body).filter(([name]) => !this.outward.has(name));
    return Object.fromEntries(known.map(([name, value]) => [this.inward.get(name) ?? name, value]));
  }

  /** Returns an answer with its fields, and its error about a field, in the service's word. */
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
