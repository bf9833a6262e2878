import { Injectable } from '@nestjs/common';

/** Whether this process accepts new requests. */
@Injectable()
export class ReadinessService {
  private stopping = false;

  get isStopping(): boolean {
    return this.stopping;
  }

  /** Tells load balancers to use other instances. Requests that still arrive are served. */
  stop(): void {
    this.stopping = true;
  }
}
