import { inspect } from 'node:util';

const SHOWN = '[secret]';

/** A value that shows itself nowhere by accident: not in logs, JSON, templates or errors. Only `reveal` gives it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
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
