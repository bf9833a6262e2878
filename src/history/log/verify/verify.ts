import { ClientBase } from 'pg';
import { Verifier } from '../note';
import { Ask } from '../tree-store';
import { Chunk, readChunk } from './chunks';
import { Excuses } from './excuses';
import { Fault, LogFault } from './fault';
import { checkSearchIndex } from './search-index';
import { checkBeside, checkLogTables, checkUnsealed, requireTables, Unsealed } from './tables';
import { readOwn, Walk, Witnessed } from './walk';

/** The number of leaves in a chunk. A multiple of 256, so that each stored node ends with a chunk. */
const CHUNK = 4_096;

/** The search index is updated every second, unless the proxy is down. */
const INDEX_DELAY_SECONDS = 60;

/** Chunks are read by the index of the leaves. The counts at the end scan whole tables. */
const WALKING =
  'SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_seqscan = off; ' +
  'SET LOCAL max_parallel_workers_per_gather = 0'; // starting workers for each chunk takes longer than the chunk
const COUNTING =
  'SET LOCAL enable_hashjoin = on; SET LOCAL enable_seqscan = on; SET LOCAL max_parallel_workers_per_gather = 2';
const ALWAYS = 'SET LOCAL jit = off; SET LOCAL search_path = pg_catalog, public';

export interface VerifyRequest {
  /** Verifies notes of the log's key. */
  verifier: Verifier;
  /** The witness's copies of checkpoints, each with its source, for people. */
  notes: { note: string; source: string }[];
  /** The age from which a record must be in the search index, in seconds. Default: 60. */
  indexDelaySeconds?: number | undefined;
  onProgress?: (done: number, of: number) => void;
}

/** The result of a verification. */
export interface Report {
  ok: boolean;
  /** The first fault. */
  fault: Fault | null;
  /** The number of recomputed leaves. */
  records: number;
  /** Their root, which the newest checkpoint signs. Base64. */
  root: string | null;
  checkpoints: number;
  /** The number of notes of the witness that were compared. */
  witnessed: number;
  /** Unsealed records. They are no fault while they are new. */
  unsealed: Unsealed;
  pruned: number;
  erasures: number;
  prunings: number;
  /** Duration for the log and its records, without the search index. */
  seconds: number;
  records_per_second: number;
}

interface VerifyResult {
  fault: Fault | null;
  unsealed: Unsealed;
  walk: Walk | undefined;
  excuses: Excuses | undefined;
}

/**
 * Recomputes the whole log from the records and returns the first fault. Trusts only the key, the witness's notes, and
 * the server to answer with what it stores.
 * @param clients connections in transactions of one snapshot. More are faster, up to a few.
 */
export async function verifyLog(clients: [ClientBase, ...ClientBase[]], request: VerifyRequest): Promise<Report> {
  const started = performance.now();
  const [client] = clients;
  const ask: Ask = async <Row extends object>(sql: string, values: unknown[]) =>
    (await client.query<Row>(sql, values)).rows;
  let seconds: number | undefined;
  for (const each of clients) await each.query(`${ALWAYS}; ${WALKING}`);
  const found: VerifyResult = {
    fault: null,
    unsealed: { count: 0, oldest: null },
    walk: undefined,
    excuses: undefined,
  };
  try {
    await requireTables(ask);
    found.excuses = await Excuses.read(ask, request.verifier);
    const notes = [
      ...request.notes.map((one) => ({ ...one, place: {} })),
      ...found.excuses.notes.map((one) => ({ ...one, source: 'the checkpoint of the pruning' })),
    ];
    const witnessed = bySize(notes, request.verifier);
    const walk = (found.walk = new Walk(request.verifier, found.excuses, witnessed));
    const size = await walkAll(clients, ask, walk, request.onProgress);
    requireNothingCutOff(witnessed, size, request.verifier);
    await client.query(COUNTING);
    await checkLogTables(ask, walk.seen, size);
    found.unsealed = await checkUnsealed(ask, walk.seen, walk.head);
    await checkBeside(ask, walk.seen);
    seconds = (performance.now() - started) / 1_000;
    await checkSearchIndex(ask, request.indexDelaySeconds ?? INDEX_DELAY_SECONDS);
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    found.fault = error.fault;
  }
  return toReport(found, request.notes.length, seconds ?? (performance.now() - started) / 1_000);
}

async function walkAll(
  clients: ClientBase[],
  ask: Ask,
  walk: Walk,
  onProgress: VerifyRequest['onProgress'],
): Promise<number> {
  const [row] = await ask<{ size: number | null }>('SELECT max(size)::float8 AS size FROM public.checkpoint', []);
  const size = row?.size ?? 0;
  const chunks = Array.from({ length: Math.ceil(size / CHUNK) }, (_, place) => place * CHUNK);
  const read = (place: number): Promise<Chunk | undefined> => {
    const from = chunks[place];
    const client = clients[place % clients.length];
    if (from === undefined || !client) return Promise.resolve(undefined);
    const chunk = readChunk(client, from, Math.min(from + CHUNK, size));
    chunk.catch(() => undefined); // awaited later, or never after a fault
    return chunk;
  };
  const prefetched = clients.map((_, place) => read(place));
  try {
    for (const [place, from] of chunks.entries()) {
      const chunk = await prefetched[place % clients.length];
      prefetched[place % clients.length] = read(place + clients.length);
      if (chunk) walk.add(chunk, Math.min(from + CHUNK, size));
      onProgress?.(walk.size, size);
    }
  } finally {
    await Promise.allSettled(prefetched); // the caller ends the transactions, so no query may still run
  }
  return size;
}

/** Groups notes by size, which is their second line. Signatures are checked once the tree has that size. */
function bySize(notes: Witnessed[], verifier: Verifier): Map<number, Witnessed[]> {
  const sizes = new Map<number, Witnessed[]>();
  for (const one of notes) {
    const said = one.note.split('\n', 2)[1] ?? '';
    const size = /^[1-9]\d{0,15}$/.test(said) ? Number(said) : readOwn(one.note, verifier, one.source, one.place).size;
    sizes.set(size, [...(sizes.get(size) ?? []), one]);
  }
  return sizes;
}

function requireNothingCutOff(witnessed: ReadonlyMap<number, Witnessed[]>, size: number, verifier: Verifier): void {
  for (const [beyond, notes] of witnessed) {
    if (beyond <= size) continue;
    for (const { note, source, place } of notes) {
      readOwn(note, verifier, source, place);
      throw new LogFault(
        'log_cut_off',
        `The log has ${size} leaves, but ${source} covers ${beyond}. The newest records were removed with their ` +
          'seals, or an older backup was restored.',
        { leaf: size, to_leaf: beyond - 1, ...place },
      );
    }
  }
}

function toReport({ fault, unsealed, walk, excuses }: VerifyResult, witnessed: number, seconds: number): Report {
  const records = walk?.size ?? 0;
  return {
    ok: fault === null,
    fault,
    records,
    root: walk?.head?.root.toString('base64') ?? null,
    checkpoints: walk?.seen.checkpoints ?? 0,
    witnessed,
    unsealed,
    pruned: walk?.seen.pruned ?? 0,
    erasures: excuses?.count.erasures ?? 0,
    prunings: excuses?.count.prunings ?? 0,
    seconds: Number(seconds.toFixed(3)),
    records_per_second: Math.round(records / seconds),
  };
}
