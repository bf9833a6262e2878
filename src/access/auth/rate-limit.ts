import { Injectable } from '@nestjs/common';
import { FastifyReply } from 'fastify';
import { withPatience } from '../../platform/database/patience';
import { PrismaService } from '../../platform/database/prisma.service';
import { causeOf } from '../../platform/database/unavailable';
import { Problem } from '../../platform/errors/problem';

const WINDOW_MS = 60_000;

/** A client's current rate limit window. */
interface RequestWindow {
  /** The number of requests in it, including this one. */
  requests: number;
  /** Seconds until it ends, rounded up: 1 to 60. */
  secondsLeft: number;
}

/** Counts the requests of clients over all instances. */
@Injectable()
export class RequestWindowsService {
  /** The windows that are counted here. There are as many as clients with a limit. */
  private readonly here = new Map<string, { startedAt: number; requests: number }>();

  constructor(private readonly prisma: PrismaService) {}

  /**
   * Counts one request. A client's window begins with a request and lasts 60 seconds by the database's clock. All
   * requests of a client change one row, so each uses one statement in a transaction of its own and holds the row only
   * briefly. The table is not logged, so no commit waits for a disk.
   */
  async count(clientId: string, patienceMs: number): Promise<RequestWindow> {
    // now() is the start of the statement. A statement that waited for the row may find a window that began later.
    const counted = this.prisma.$queryRaw<RequestWindow[]>`
      INSERT INTO request_window AS w (client_id, started_at, requests) VALUES (${clientId}::uuid, now(), 1)
      ON CONFLICT (client_id) DO UPDATE SET
        started_at = CASE WHEN w.started_at > now() - interval '60 s' THEN w.started_at ELSE now() END,
        requests = CASE WHEN w.started_at > now() - interval '60 s' THEN w.requests + 1 ELSE 1 END
      RETURNING requests,
        greatest(1, least(60, ceil(extract(epoch FROM started_at + interval '60 s' - now()))))::integer AS "secondsLeft"`;
    try {
      const [row] = await withPatience(counted, patienceMs);
      if (!row) throw new Error('the upsert returned no row');
      return row;
    } catch (error) {
      const cause = causeOf(error);
      if (cause === undefined || cause === 'unreachable') throw error;
      return this.countHere(clientId);
    }
  }

  /** Counts on this instance alone, while the database answers reads and takes no writes. */
  private countHere(clientId: string): RequestWindow {
    const now = performance.now();
    const known = this.here.get(clientId);
    const window = known && now - known.startedAt < WINDOW_MS ? known : { startedAt: now, requests: 0 };
    window.requests += 1;
    this.here.set(clientId, window);
    return {
      requests: window.requests,
      secondsLeft: Math.max(1, Math.ceil((window.startedAt + WINDOW_MS - now) / 1_000)),
    };
  }
}

/**
 * Sets the rate limit headers of the response (draft-ietf-httpapi-ratelimit-headers-11).
 * @throws Problem `rate_limited` beyond the limit. Only the first rejection of a window is recorded, so a flood cannot fill
 * the records.
 */
export function limitRate(limit: number, { requests, secondsLeft }: RequestWindow, reply: FastifyReply): void {
  void reply
    .header('ratelimit-policy', `"requests";q=${limit};w=60`)
    .header('ratelimit', `"requests";r=${Math.max(0, limit - requests)};t=${secondsLeft}`);
  if (requests > limit) {
    throw new Problem('rate_limited', { retryAfter: secondsLeft, recorded: requests === limit + 1 });
  }
}
