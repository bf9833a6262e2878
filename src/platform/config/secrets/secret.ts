import { createHash } from 'node:crypto';
import { inspect } from 'node:util';

const SHOWN = '[secret]';

/** A value that never appears by accident in logs, JSON, templates, or errors. Only `reveal` returns it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  /** Returns whether this is its value. */
  is(value: string): boolean {
    return this.#value === value;
  }

  toString(): string {
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  [inspect.custom](): string {
    return SHOWN;
  }

  /** Fingerprint of the secret. It reveals no long random secret, but confirms a guess of a weak one. */
  get fingerprint(): string {
    return `SHA-256 ${createHash('sha256').update(this.#value).digest('hex').slice(0, 8)}…`;
  }
}
