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
}
