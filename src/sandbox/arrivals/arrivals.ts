import { parse } from 'node:querystring';
import { Pool } from 'pg';
import { Database, Work } from '../database';
import { Arrival } from '../generated/client';

// Not through Prisma, whose queries cost several times as much: two of these are made for every request.
const POOL_SIZE = 4; // of their own: payouts that wait for a wallet must not keep requests from being noted
const CONNECT_TIMEOUT_MS = 30_000;

/** What is known of a request before anything is done. */
export type NewArrival = Pick<Arrival, 'operation' | 'query' | 'body' | 'accountId' | 'fault'>;

/** Which part of the ground truth is asked for; all of it by default. */
export interface ArrivalFilter {
  operation?: string | undefined;
  /** Only what arrived after this one. */
  after?: number | undefined;
  limit?: number | undefined;
}

/**
 * The ground truth: every request that arrived below /api/v0.1, and whether it was carried out. That it was is part of the
 * database transaction that did it, so that the two cannot differ, whenever the process ends.
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
      // Not waiting for the disk: a note survives the end of this process, and the commit of a payout takes along all notes before it.
      options: '-c synchronous_commit=off',
    });
    this.notes.on('error', () => undefined); // an idle connection that is lost is replaced by the next note
  }

  /** Notes a request that arrived; gives its place in the order. */
  async arrived({ operation, query, body, accountId, fault }: NewArrival): Promise<bigint> {
    const { rows } = await this.notes.query<{ seq: string }>({
      name: 'arrived',
      text: 'INSERT INTO arrivals (operation, query, body, account_id, fault) VALUES ($1, $2, $3, $4, $5) RETURNING seq',
      values: [storable(operation), storable(query), storable(body), accountId, fault],
    });
    if (!rows[0]) throw new Error('the arrival was not noted');
    return BigInt(rows[0].seq);
  }

  /** Notes that a request is carried out, or once more. Throws, and so undoes `work`, when a reset has removed the request. */
  async processed(work: Work, seq: bigint, chiRefs: string[]): Promise<void> {
    const noted = await work.$executeRaw`
      UPDATE arrivals SET processed = true, processed_at = coalesce(processed_at, clock_timestamp()), chi_refs = chi_refs || ${chiRefs}
      WHERE seq = ${seq}`;
    if (noted === 0) throw Object.assign(new Error('a reset has removed this request'), { name: 'ResetMeanwhile' });
  }

  /** Notes what a request is answered, before the answer's first byte leaves. */
  async answered(seq: bigint, httpStatus: number): Promise<void> {
    await this.notes.query({
      name: 'answered',
      text: 'UPDATE arrivals SET answered_at = clock_timestamp(), http_status = $2 WHERE seq = $1',
      values: [seq, httpStatus],
    });
  }

  /** In order of arrival. */
  async list({ operation, after, limit }: ArrivalFilter) {
    const rows = await this.database.arrival.findMany({
      where: { ...(operation !== undefined && { operation }), ...(after !== undefined && { seq: { gt: after } }) },
      orderBy: { seq: 'asc' },
      ...(limit !== undefined && { take: limit }),
    });
    return rows.map(shown);
  }

  /** Forgets all. The order goes on counting: a request of before can never be taken for a later one. */
  async clear(): Promise<void> {
    await this.database.$executeRaw`TRUNCATE arrivals`;
  }

  async close(): Promise<void> {
    await this.notes.end();
  }
}

/** Postgres has no place for a null character in a text. */
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
