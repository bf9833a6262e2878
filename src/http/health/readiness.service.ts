import { Injectable } from '@nestjs/common';
import { FenceService } from '../../continuity/fence/fence.service';
import { HeartbeatService } from '../../continuity/heartbeat/heartbeat.service';
import { StorageService } from '../../platform/storage/storage.service';

/** Reports whether this process accepts new requests. */
@Injectable()
export class ReadinessService {
  private stopping = false;

  constructor(
    private readonly heartbeat: HeartbeatService,
    private readonly fence: FenceService,
    private readonly storage: StorageService,
  ) {}

  /** Tells load balancers to use other instances. Requests that still arrive are served. */
  stop(): void {
    this.stopping = true;
  }

  /** Returns the reason for refusing new requests, in full sentences. Undefined if ready. */
  async obstacle(): Promise<string | undefined> {
    if (this.stopping) return 'The proxy is shutting down.';
    const isConfirmed = await this.heartbeat.isConfirmed();
    const failures = this.storage.failures.map(({ place, cause, detail }) => `${place} ${cause}: ${detail}`);
    if (!isConfirmed) return ['The database does not confirm a durable write.', ...failures].join(' ');
    if (this.storage.obstacle) return `This instance admits no requests. ${failures.join(' ')}`;
    const reasons = this.fence.reasons.map(({ reason, detail }) => `${reason}: ${detail}`);
    if (reasons.length > 0) return `This instance does not pay or write. ${reasons.join(' ')}`;
    return undefined;
  }
}
