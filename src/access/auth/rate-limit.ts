import { Injectable } from '@nestjs/common';
import { FastifyReply } from 'fastify';
import { GroupCommit } from '../../platform/database/pools/group-commit';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { REQUEST_TIMEOUT_MS } from '../../platform/database/pools/timeouts';
import { causeOf } from '../../platform/database/pools/unavailable';
import { Problem } from '../../platform/errors/problem';

const WINDOW_MS = 60_000;

/** A client's current rate limit window. */
interface RequestWindow {
  /** Requests in the window, including this one. */
  requests: number;
  /** Seconds until the window ends, rounded up: 1 to 60. */
  secondsLeft: number;
}

/** Batch size. Above the number of requests that wait at once. */
const MAX_COUNTED = 1_000;

// now() is the start of the statement. After a wait for the row, the window may have begun later.
const COUNT = `
  INSERT INTO request_window AS w (client_id, started_at, requests)
  SELECT client_id, now(), count(*) FROM unnest($1::uuid[]) AS client_id GROUP BY client_id ORDER BY client_id
  ON CONFLICT (client_id) DO UPDATE SET
    started_at = CASE WHEN w.started_at > now() - interval '60 s' THEN w.started_at ELSE now() END,
    requests = CASE WHEN w.started_at > now() - interval '60 s' THEN w.requests ELSE 0 END + excluded.requests
  RETURNING client_id AS "clientId", requests,
    greatest(1, least(60, ceil(extract(epoch
      FROM started_at + interval '60 s' - now()))))::integer AS "secondsLeft"`;

type Windows = GroupCommit<string, RequestWindow>;

/** Counts the requests of clients, and of persons with a limit, across all instances. */
@Injectable()
export class RequestWindowsService {
  /** Windows counted on this instance, one per client with a limit. */
  private readonly localWindows = new Map<string, { startedAt: number; requests: number }>();

  private readonly ofPayments: Windows;
  private readonly ofOthers: Windows;

  constructor(prisma: PrismaService, side: SidePrisma) {
    this.ofPayments = windowsOn(prisma);
    this.ofOthers = windowsOn(side);
  }

  /**
   * Counts one request. A window begins with a request and lasts 60 seconds by the database's clock. All
   * requests of a client update one row. Concurrent ones share a statement, so they wait for the row once, on
   * one connection. The table is unlogged, so no commit waits for a disk.
   * @param isPayment whether the request passes admission. Others never hold up a payment.
   */
  async count(clientId: string, isPayment: boolean, timeoutMs: number): Promise<RequestWindow> {
    try {
      return await (isPayment ? this.ofPayments : this.ofOthers).add(clientId, timeoutMs);
    } catch (error) {
      const cause = causeOf(error);
      if (cause === undefined || cause === 'unreachable') throw error;
      return this.countLocally(clientId);
    }
  }

  /** Counts on this instance only, while the database is read-only. */
  private countLocally(clientId: string): RequestWindow {
    const now = performance.now();
    const known = this.localWindows.get(clientId);
    const window = known && now - known.startedAt < WINDOW_MS ? known : { startedAt: now, requests: 0 };
    window.requests += 1;
    this.localWindows.set(clientId, window);
    return {
      requests: window.requests,
      secondsLeft: Math.max(1, Math.ceil((window.startedAt + WINDOW_MS - now) / 1_000)),
    };
  }
}

function windowsOn(prisma: PrismaService): Windows {
  const count = async (clientIds: string[]): Promise<RequestWindow[]> => {
    const rows = await prisma.prepared<RequestWindow & { clientId: string }>('count_requests', COUNT, [
      clientIds,
    ]);
    const left = new Map<string, RequestWindow>(rows.map((row) => [row.clientId, row]));
    // The statement returned the number of the client's last request.
    const numbered = clientIds.toReversed().map((clientId) => {
      const window = left.get(clientId);
      if (!window) throw new Error('the upsert returned no row');
      left.set(clientId, { ...window, requests: window.requests - 1 });
      return { requests: window.requests, secondsLeft: window.secondsLeft };
    });
    return numbered.toReversed();
  };
  return new GroupCommit(count, () => 1, MAX_COUNTED, { timeoutMs: REQUEST_TIMEOUT_MS });
}

/**
 * Adds a policy to the rate limit headers of the response (draft-ietf-httpapi-ratelimit-headers-11).
 * @param policy `requests` for the client's limit, `person` for the requester's.
 * @throws Problem `rate_limited` above the limit. Records only the first rejection of a window.
 */
export function limitRate(
  policy: 'requests' | 'person',
  limit: number,
  { requests, secondsLeft }: RequestWindow,
  reply: FastifyReply,
): void {
  appendHeader(reply, 'ratelimit-policy', `"${policy}";q=${limit};w=60`);
  appendHeader(reply, 'ratelimit', `"${policy}";r=${Math.max(0, limit - requests)};t=${secondsLeft}`);
  if (requests > limit) {
    throw new Problem('rate_limited', { retryAfter: secondsLeft, recorded: requests === limit + 1 });
  }
}

function appendHeader(reply: FastifyReply, name: string, entry: string): void {
  const before = reply.getHeader(name);
  void reply.header(name, before === undefined ? entry : `${String(before)}, ${entry}`);
}
