import { bulkhead, BulkheadPolicy, isBulkheadRejectedError } from 'cockatiel';
import { Answer, notSent } from './answer';

/** Limits how many requests are in progress and how many wait. It rejects further requests at once. */
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
   * Runs an exchange when it is its turn.
   * @param patienceMs how long to wait. A request that waited longer is rejected and never started.
   * @param refusal called when the turn of a waiting request comes. It returns an answer if the request may no longer
   * be started, and never throws.
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
      // cockatiel gets no signal, because a request that is aborted in its queue would block the requests behind it.
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
