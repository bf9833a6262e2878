import { ClientBase } from 'pg';
import { Verifier } from '../note';
import { Ask } from '../tree-store';
import { Chunk, readChunk } from './chunks';
import { Excuses } from './excuses';
import { Fault, LogFault } from './fault';
import { checkSearchIndex } from './search-index';
import { checkBeside, checkLogTables, checkUnsealed, requireTables, Unsealed } from './tables';
import { readOwn, Walk, Witnessed } from './walk';

/** Leaves that are read at once: a multiple of 256, so that each kept node ends with a chunk. */
const CHUNK = 4_096;

/** The search index is brought up to date each second; a proxy that is down does not do it. */
const INDEX_DELAY_SECONDS = 60;

/** Chunks are read leaf by leaf, by index; the counts at the end look through whole tables. */
const WALKING =
  'SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_seqscan = off; ' +
  'SET LOCAL max_parallel_workers_per_gather = 0'; // to begin them for each chunk takes longer than the chunk
const COUNTING =
  'SET LOCAL enable_hashjoin = on; SET LOCAL enable_seqscan = on; SET LOCAL max_parallel_workers_per_gather = 2';
const ALWAYS = 'SET LOCAL jit = off; SET LOCAL search_path = pg_catalog, public';

export interface VerifyRequest {
  /** Of the log's key. */
  verifier: Verifier;
  /** The witness's copies of checkpoints, and where each is from, for people. */
  notes: { note: string; source: string }[];
  /** How old a record is that the search index must have. Seconds; default: a minute. */
  indexDelaySeconds?: number | undefined;
  onProgress?: (done: number, of: number) => void;
}

/** What was verified. */
export interface Report {
  ok: boolean;
  /** The first thing that is wrong. */
  fault: Fault | null;
  /** Leaves that were recomputed. */
  records: number;
  /** The root that they have, and that the newest checkpoint signs; base64. */
  root: string | null;
  checkpoints: number;
  /** The witness's notes that were compared. */
  witnessed: number;
  /** Records that are not sealed yet; no fault, if they are new. */
  unsealed: Unsealed;
  pruned: number;
  erasures: number;
  prunings: number;
  /** For the log and its records; the search index comes on top. */
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
 * Recomputes the whole log from the records and says what is wrong first. Nothing is taken for granted but the key, the
 * witness's notes, and that the server answers with what it holds.
 * @param clients in transactions of one snapshot; the more, the faster, up to a few.
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
      ...found.excuses.notes.map((one) => ({ ...one, source: 'the checkpoint that the pruning kept' })),
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
    chunk.catch(() => undefined); // it is awaited later, or not at all once something is wrong
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
    await Promise.allSettled(prefetched); // whoever ends the transactions must not find them at work
  }
  return size;
}

/** A note's size is its second line; whether it is signed is seen where the tree has that size. */
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
        `The log has ${size} leaves, and ${source} was signed over ${beyond}: the newest records were taken away with their ` +
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
