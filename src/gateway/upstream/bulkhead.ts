import { bulkhead, BulkheadPolicy, isBulkheadRejectedError } from 'cockatiel';
import { Answer, notSent } from './answer';

/** Bounds how many requests are on their way and how many wait for that; what is one too many is turned away at once. */
export class Bulkhead {
  private readonly places: BulkheadPolicy;

  constructor(
    connections: number,
    private readonly queue: number,
  ) {
    this.places = bulkhead(connections, queue);
  }

  get waiting(): number {
    return this.queue - this.places.queueSlots;
  }

  /**
   * @param patienceMs how long to wait for a place; past it the request is answered, and never begun.
   * @param refusal asked when the turn of a request comes that had to wait for it: its answer, if it may no longer be begun.
   * It never throws.
   * @param exchange never throws.
   */
  run(
    patienceMs: number,
    refusal: () => Promise<Answer | undefined>,
    exchange: () => Promise<Answer>,
  ): Promise<Answer> {
    if (this.places.executionSlots > 0) return this.places.execute(exchange);
    return new Promise((resolve, reject) => {
      let gaveUp = false;
      const timer = setTimeout(() => {
        gaveUp = true;
        resolve(notSent('overloaded'));
      }, patienceMs);
      // cockatiel is given no signal: one that is aborted in its queue would keep those behind it from their turn.
      const turn = this.places.execute(async () => {
        const refused = gaveUp ? undefined : await refusal();
        clearTimeout(timer);
        if (gaveUp) return notSent('overloaded');
        return refused ?? exchange();
      });
      turn.then(resolve, (error: Error) => {
        clearTimeout(timer);
        if (isBulkheadRejectedError(error)) resolve(notSent('overloaded'));
        else reject(error);
      });
    });
  }
}
