import { Inject, Injectable, Logger } from '@nestjs/common';
import { MAY_HAVE_INTENT, releaseRefused } from '../../journal/refusals';
import { clock } from '../../platform/database/clock';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { PrismaService } from '../../platform/database/prisma.service';
import { uuidFloor } from '../../platform/database/uuid';

/** Older reservations count on no cap any more. */
const KEPT_MS = 32 * 86_400_000;

/** The number of refusals that one transaction looks at. It locks their clients. */
const AT_ONCE = 500;

/**
 * Releases the reservations of refused calls. A call that was refused because of the database may have an intent, and
 * the process that refused it releases its reservation. If that process dies in between, this service does.
 */
@Injectable()
export class RefusedReservationsService {
  private readonly logger = new Logger('Resolver');
  /** All refusals of older transactions were looked at. */
  private seenBefore = '0';

  constructor(
    private readonly prisma: PrismaService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  /** Looks at the refusals since the last time, or all after a start. @returns how many reservations it released. */
  async run(signal: AbortSignal): Promise<number> {
    const since = uuidFloor(new Date(clock.nowMs() - KEPT_MS));
    const [now] = await this.prisma.$queryRaw<{ horizon: string }[]>`
      SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS horizon`;
    const refused = await this.prisma.$queryRaw<{ id: string; clientId: string }[]>`
      SELECT id::text, client_id::text AS "clientId" FROM refusal
      WHERE code = ANY (${[...MAY_HAVE_INTENT]}::text[]) AND tx >= ${this.seenBefore}::xid8 AND id >= ${since}::uuid ORDER BY tx`;
    let released = 0;
    for (let first = 0; first < refused.length; first += AT_ONCE) {
      signal.throwIfAborted();
      released += await releaseRefused(this.prisma, refused.slice(first, first + AT_ONCE), this.settings);
    }
    this.seenBefore = now?.horizon ?? this.seenBefore;
    if (released > 0) this.logger.warn({ calls: released }, 'reservations of refused calls released');
    return released;
  }
}
