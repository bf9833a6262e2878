import { parse } from 'node:querystring';
import { Pool } from 'pg';
import { Database, Work } from '../database';
import { Arrival } from '../generated/client';

// Each request makes two writes. They bypass Prisma, whose queries take several times as long.
const POOL_SIZE = 4; // Own pool, because payouts that wait for a wallet must not delay these writes.
const CONNECT_TIMEOUT_MS = 30_000;

/** A request before any effect. */
type NewArrival = Pick<Arrival, 'operation' | 'query' | 'body' | 'accountId' | 'fault'>;

/** Filter of the ground truth. Default: all requests. */
interface ArrivalFilter {
  operation?: string | undefined;
  /** Position of the request before the first one. */
  after?: number | undefined;
  limit?: number | undefined;
}

/**
 * The ground truth: every request below /api/v0.1, and whether it was carried out. The operation's database
 * transaction writes that fact, so the two never differ, whenever the process ends.
 */
export class Arrivals {
  private readonly notes: Pool;

  constructor(
    private readonly database: Database,
    databaseUrl: string,
  ) {
    this.notes = new Pool({
      connectionString: databaseUrl,
      max: POOL_SIZE,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      // These writes survive the end of this process, and the commit of a payout flushes all earlier ones:
      // https://www.postgresql.org/docs/current/wal-async-commit.html
      options: '-c synchronous_commit=off',
    });
    this.notes.on('error', () => undefined); // The next write replaces a lost idle connection.
  }

  /** Records a request. Returns its position in the order of arrival. */
  async arrived({ operation, query, body, accountId, fault }: NewArrival): Promise<bigint> {
    const { rows } = await this.notes.query<{ seq: string }>({
      name: 'arrived',
      text: `INSERT INTO arrivals (operation, query, body, account_id, fault)
        VALUES ($1, $2, $3, $4, $5) RETURNING seq`,
      values: [storable(operation), storable(query), storable(body), accountId, fault],
    });
    if (!rows[0]) throw new Error('the arrival was not recorded');
    return BigInt(rows[0].seq);
  }

  /**
   * Records that `work` carries a request out, for the first time or again.
   * @throws if a reset has removed the request. That undoes `work`.
   */
  async processed(work: Work, seq: bigint, chiRefs: string[]): Promise<void> {
    const updated = await work.$executeRaw`
      UPDATE arrivals
      SET processed = true, processed_at = coalesce(processed_at, clock_timestamp()),
        chi_refs = chi_refs || ${chiRefs}
      WHERE seq = ${seq}`;
    if (updated === 0)
      throw Object.assign(new Error('a reset has removed this request'), { name: 'ResetMeanwhile' });
  }

  /** Records the answer before its first byte is sent. */
  async answered(seq: bigint, httpStatus: number): Promise<void> {
    await this.notes.query({
      name: 'answered',
      text: 'UPDATE arrivals SET answered_at = clock_timestamp(), http_status = $2 WHERE seq = $1',
      values: [seq, httpStatus],
    });
  }

  /** Lists requests in order of arrival. */
  async list({ operation, after, limit }: ArrivalFilter) {
    const rows = await this.database.arrival.findMany({
      where: {
        ...(operation !== undefined && { operation }),
        ...(after !== undefined && { seq: { gt: after } }),
      },
      orderBy: { seq: 'asc' },
      ...(limit !== undefined && { take: limit }),
    });
    return rows.map(shown);
  }

  /** Removes all requests. Positions are never used again. */
  async clear(): Promise<void> {
    await this.database.$executeRaw`TRUNCATE arrivals`;
  }

  async close(): Promise<void> {
    await this.notes.end();
  }
}

/** Replaces null characters, which Postgres cannot store in text. */
function storable<Text extends string | null>(text: Text): string | Text {
  return text?.replaceAll('\0', '\uFFFD') ?? text;
}

function shown(arrival: Arrival) {
  const { seq, operation, query, body, processed, chiRefs, fault, accountId, httpStatus } = arrival;
  const { arrivedAt, processedAt, answeredAt } = arrival;
  return {
    seq: Number(seq),
    operation,
    query: { ...parse(query) },
    body: readBody(body),
    processed,
    chiRefs,
    fault,
    account: accountId,
    httpStatus,
    arrivedAt,
    processedAt,
    answeredAt,
  };
}

function readBody(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
