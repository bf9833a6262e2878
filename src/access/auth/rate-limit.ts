import { Injectable } from '@nestjs/common';
import { FastifyReply } from 'fastify';
import { GroupCommit } from '../../platform/database/pools/group-commit';
import { REQUEST_PATIENCE_MS } from '../../platform/database/pools/patience';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { causeOf } from '../../platform/database/pools/unavailable';
import { Problem } from '../../platform/errors/problem';

const WINDOW_MS = 60_000;

/** A client's current rate limit window. */
interface RequestWindow {
  /** The number of requests in it, including this one. */
  requests: number;
  /** Seconds until it ends, rounded up: 1 to 60. */
  secondsLeft: number;
}

/** More requests than ever wait at the same time. */
const MAX_COUNTED = 1_000;

// now() is the start of the statement. A statement that waited for a row may find a window that began later.
const COUNT = `
  INSERT INTO request_window AS w (client_id, started_at, requests)
  SELECT client_id, now(), count(*) FROM unnest($1::uuid[]) AS client_id GROUP BY client_id ORDER BY client_id
  ON CONFLICT (client_id) DO UPDATE SET
    started_at = CASE WHEN w.started_at > now() - interval '60 s' THEN w.started_at ELSE now() END,
    requests = CASE WHEN w.started_at > now() - interval '60 s' THEN w.requests ELSE 0 END + excluded.requests
  RETURNING client_id AS "clientId", requests,
    greatest(1, least(60, ceil(extract(epoch FROM started_at + interval '60 s' - now()))))::integer AS "secondsLeft"`;

type Windows = GroupCommit<string, RequestWindow>;

/** Counts the requests of clients, and of persons with a limit, over all instances. */
@Injectable()
export class RequestWindowsService {
  /** The windows that are counted here. There are as many as clients with a limit. */
  private readonly here = new Map<string, { startedAt: number; requests: number }>();

  private readonly ofPayments: Windows;
  private readonly ofOthers: Windows;

  constructor(prisma: PrismaService, side: SidePrisma) {
    this.ofPayments = windowsOn(prisma);
    this.ofOthers = windowsOn(side);
  }

  /**
   * Counts one request. A client's window begins with a request and lasts 60 seconds by the database's clock. All
   * requests of a client change one row. Those that arrive together are counted by one statement, so that they wait for
   * the row once, on one connection. The table is not logged, so no commit waits for a disk.
   * @param isPayment whether admission decides about the request. Others never hold up a payment.
   */
  async count(clientId: string, isPayment: boolean, patienceMs: number): Promise<RequestWindow> {
    try {
      return await (isPayment ? this.ofPayments : this.ofOthers).add(clientId, patienceMs);
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

function windowsOn(prisma: PrismaService): Windows {
  const count = async (clientIds: string[]): Promise<RequestWindow[]> => {
    const rows = await prisma.prepared<RequestWindow & { clientId: string }>('count_requests', COUNT, [clientIds]);
    const left = new Map<string, RequestWindow>(rows.map((row) => [row.clientId, row]));
    // The last of a client's requests has the number that the statement returned.
    const numbered = clientIds.toReversed().map((clientId) => {
      const window = left.get(clientId);
      if (!window) throw new Error('the upsert returned no row');
      left.set(clientId, { ...window, requests: window.requests - 1 });
      return { requests: window.requests, secondsLeft: window.secondsLeft };
    });
    return numbered.toReversed();
  };
  return new GroupCommit(count, () => 1, MAX_COUNTED, { patienceMs: REQUEST_PATIENCE_MS });
}

/**
 * Adds a policy to the rate limit headers of the response (draft-ietf-httpapi-ratelimit-headers-11).
 * @param policy `requests` for those of the client, or `person` for those of the requester.
 * @throws Problem `rate_limited` beyond the limit. Only the first rejection of a window is recorded, so a flood cannot fill
 * the records.
 */
export function limitRate(
  policy: 'requests' | 'person',
  limit: number,
  { requests, secondsLeft }: RequestWindow,
  reply: FastifyReply,
): void {
  addTo(reply, 'ratelimit-policy', `"${policy}";q=${limit};w=60`);
  addTo(reply, 'ratelimit', `"${policy}";r=${Math.max(0, limit - requests)};t=${secondsLeft}`);
  if (requests > limit) {
    throw new Problem('rate_limited', { retryAfter: secondsLeft, recorded: requests === limit + 1 });
  }
}

function addTo(reply: FastifyReply, name: string, entry: string): void {
  const before = reply.getHeader(name);
  void reply.header(name, before === undefined ? entry : `${String(before)}, ${entry}`);
}
