import { PrismaPg } from '@prisma/adapter-pg';
import { parse } from 'node:querystring';
import { Database, Work } from '../database';
import { Arrival, PrismaClient } from '../generated/client';

const POOL_SIZE = 4; // of its own: payouts that wait for a wallet must not keep requests from being noted
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
  private readonly notes: PrismaClient;

  constructor(
    private readonly database: Database,
    databaseUrl: string,
  ) {
    const connection = { connectionString: databaseUrl, max: POOL_SIZE, connectionTimeoutMillis: CONNECT_TIMEOUT_MS };
    // Not waiting for the disk: a note survives the end of this process, and the commit of a payout takes along all notes before it.
    this.notes = new PrismaClient({ adapter: new PrismaPg({ ...connection, options: '-c synchronous_commit=off' }) });
  }

  /** Notes a request that arrived; gives its place in the order. */
  async arrived({ operation, query, body, accountId, fault }: NewArrival): Promise<bigint> {
    const [row] = await this.notes.$queryRaw<{ seq: bigint }[]>`
      INSERT INTO arrivals (operation, query, body, account_id, fault)
      VALUES (${storable(operation)}, ${storable(query)}, ${storable(body)}, ${accountId}, ${fault}) RETURNING seq`;
    if (!row) throw new Error('the arrival was not noted');
    return row.seq;
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
    await this.notes
      .$executeRaw`UPDATE arrivals SET answered_at = clock_timestamp(), http_status = ${httpStatus} WHERE seq = ${seq}`;
  }

  /** In order of arrival. */
  async list({ operation, after, limit }: ArrivalFilter): Promise<object[]> {
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
    await this.notes.$disconnect();
  }
}

/** Postgres has no place for a null character in a text. */
function storable<Text extends string | null>(text: Text): string | Text {
  return text?.replaceAll('\0', '\uFFFD') ?? text;
}

function shown(arrival: Arrival): object {
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
