import { Injectable } from '@nestjs/common';

/** Whether this process wants requests at all. */
@Injectable()
export class ReadinessService {
  private stopping = false;

  get isStopping(): boolean {
    return this.stopping;
  }

  /** From now on load balancers are told to look elsewhere; whoever comes all the same is served. */
  stop(): void {
    this.stopping = true;
  }
}
