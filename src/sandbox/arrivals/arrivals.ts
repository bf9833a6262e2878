import { parse } from 'node:querystring';
import { Pool } from 'pg';
import type { Owner } from '../account/authentication';
import { Database, Work } from '../database';
import { Arrival } from '../generated/client';
import { GroupCommit } from '../group-commit';

const POOL_SIZE = 2; // Own pool, because payouts that wait for a wallet must not delay these writes.
const CONNECT_TIMEOUT_MS = 30_000;
const GROUP_BYTES = 1024 * 1024;
const BYTES_OF_OTHERS = 512; // Rough size of the columns beside the body.
const GROUP_ANSWERS = 1_000;

/** A request before any effect. */
type NewArrival = Pick<Arrival, 'operation' | 'query' | 'body' | 'fault'> & {
  /** SHA-256 of its key. Null for a request without a key. */
  keyHash: string | null;
};

/** A recorded request: its position in the order of arrival, and the owner of its key. */
interface RecordedArrival {
  seq: bigint;
  /** Null for a missing or unknown key. */
  owner: Owner | null;
}

interface ProcessedArrival {
  seq: bigint;
  /** Those that it created or changed. */
  chiRefs: string[];
}

interface Answered {
  seq: bigint;
  httpStatus: number;
}

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
  private readonly arrivals = new GroupCommit<NewArrival, RecordedArrival>((group) => this.insert(group), {
    most: GROUP_BYTES,
    weightOf: ({ body }) => BYTES_OF_OTHERS + (body?.length ?? 0),
  });
  private readonly answers = new GroupCommit<Answered, undefined>((group) => this.update(group), {
    most: GROUP_ANSWERS,
    weightOf: () => 1,
  });

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

  /** Records a request, and looks up the owner of its key. */
  arrived(arrival: NewArrival): Promise<RecordedArrival> {
    return this.arrivals.add(arrival);
  }

  private async insert(group: NewArrival[]): Promise<RecordedArrival[]> {
    const { rows } = await this.notes.query<{ seq: string; account_id: string | null }>({
      name: 'arrived',
      text: `INSERT INTO arrivals (operation, query, body, account_id, fault)
        SELECT operation, query, body, accounts.id, fault
        FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
          WITH ORDINALITY AS arrival (operation, query, body, key_hash, fault, place)
          LEFT JOIN accounts ON api_key_hash = key_hash
        ORDER BY place
        RETURNING seq, account_id`,
      values: [
        group.map(({ operation }) => storable(operation)),
        group.map(({ query }) => storable(query)),
        group.map(({ body }) => storable(body)),
        group.map(({ keyHash }) => keyHash),
        group.map(({ fault }) => fault),
      ],
    });
    if (rows.length !== group.length) throw new Error('the arrivals were not recorded');
    return rows.map(({ seq, account_id: id }) => ({
      seq: BigInt(seq),
      owner: id === null ? null : { id, parentId: null },
    }));
  }

  /**
   * Records that `work` carries requests out, for the first time or again.
   * @throws if a reset has removed one of the requests. That undoes `work`.
   */
  async processed(work: Work, requests: ProcessedArrival[]): Promise<void> {
    const ordered = inOrder(requests);
    const seqs = ordered.map(({ seq }) => seq); // Otherwise the planner would read the whole table.
    const rows = ordered.map(({ seq, chiRefs }) => ({ seq: String(seq), chi_refs: chiRefs }));
    const updated = await work.$executeRaw`
      UPDATE arrivals
      SET processed = true, processed_at = coalesce(processed_at, clock_timestamp()),
        chi_refs = arrivals.chi_refs || request.chi_refs
      FROM json_to_recordset(${JSON.stringify(rows)}::json) AS request (seq bigint, chi_refs text[])
      WHERE arrivals.seq = request.seq AND arrivals.seq = ANY(${seqs})`;
    if (updated < requests.length)
      throw Object.assign(new Error('a reset has removed this request'), { name: 'ResetMeanwhile' });
  }

  /** Records the answer before its first byte is sent. */
  async answered(seq: bigint, httpStatus: number): Promise<void> {
    await this.answers.add({ seq, httpStatus });
  }

  private async update(group: Answered[]): Promise<undefined[]> {
    const ordered = inOrder(group);
    await this.notes.query({
      name: 'answered',
      text: `UPDATE arrivals SET answered_at = clock_timestamp(), http_status = answer.http_status
        FROM unnest($1::bigint[], $2::integer[]) AS answer (seq, http_status)
        WHERE arrivals.seq = answer.seq AND arrivals.seq = ANY($1)`,
      values: [ordered.map(({ seq }) => String(seq)), ordered.map(({ httpStatus }) => httpStatus)],
    });
    return [];
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

/** Orders requests by position, so that concurrent groups lock their rows in the same order. */
function inOrder<Request extends { seq: bigint }>(group: Request[]): Request[] {
  return [...group].sort((a, b) => Number(a.seq - b.seq));
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
