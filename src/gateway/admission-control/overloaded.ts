import { withoutStack } from '../../platform/errors/without-stack';

/** No permit becomes free in time, the queue is full, or the database does not commit. */
export class Overloaded extends Error {
  /** @param retryAfter seconds until a retry may get a permit in time. */
  constructor(readonly retryAfter: number) {
    super('too many requests wait for a permit');
  }

  static for(retryAfter: number): Overloaded {
    return withoutStack(() => new Overloaded(retryAfter));
  }
}
