import { ClientBase } from 'pg';
import { KIND_NAMES, KindName } from '../kinds';
import { KeyRing } from '../note';
import { queryRunner } from '../tree-store';
import { checkEvidence } from './evidence';
import { Excuses } from './excuses';
import { Fault, LogFault } from './fault';
import { KeyTrust } from './key-trust';
import { RecordWalk, WalkResult } from './record-walk';
import { checkSearchIndex } from './search-index';
import { requireNoOrphans, checkLeaves, requireTables } from './tables';
import { readOwn, TreeWalk, WitnessNote } from './tree-walk';

/** Age at which a record must be in the search index, which a running proxy updates every second. */
const INDEX_DELAY_SECONDS = 60;

/** Planner settings to merge records with their related rows, both in the order of an index. */
const WALKING =
  'SET LOCAL enable_hashjoin = off; SET LOCAL enable_nestloop = off; SET LOCAL enable_seqscan = off; ' +
  'SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off; ' +
  'SET LOCAL max_parallel_workers_per_gather = 0';
/** Planner settings to count the rows of whole tables. */
const COUNTING =
  'SET LOCAL enable_hashjoin = on; SET LOCAL enable_seqscan = on; ' +
  'SET LOCAL max_parallel_workers_per_gather = 2';
const ALWAYS = 'SET LOCAL jit = off; SET LOCAL search_path = pg_catalog, public';

export interface VerifyRequest {
  /** Trusted keys of the log. Others are trusted from the checkpoint in which one of these names them. */
  ring: KeyRing;
  /** The witness's copies of checkpoints, each with its source. */
  notes: WitnessNote[];
  /** Age from which a record must be in the search index, in seconds. Default: 60. */
  indexDelaySeconds?: number | undefined;
  onProgress?: (done: number, of: number) => void;
}

/** The result of a verification. */
export interface Report {
  ok: boolean;
  /** First fault. */
  fault: Fault | null;
  /** Number of leaves that were compared with their records. */
  records: number;
  /** Root of these leaves, which the newest checkpoint signs. Base64. */
  root: string | null;
  checkpoints: number;
  /** Number of compared notes of the witness. */
  witnessed: number;
  /** Unsealed records, and the time of the oldest. They are no fault while they are new. */
  unsealed: { count: number; oldest: string | null };
  pruned: number;
  erasures: number;
  prunings: number;
  /** Whether the search index was compared. False during a rebuild, when it cannot be searched. */
  search_index: boolean;
  /** Duration for the log and its records, without the search index. */
  seconds: number;
  records_per_second: number;
}

/** Newest checkpoint, and the clock of the database, in seconds. No checkpoint is verified yet. */
interface NewestCheckpoint {
  size: number;
  completeUntil: number;
  now: number;
}

const NEWEST = `
  SELECT c.size::float8 AS size, date_part('epoch', c.complete_until) AS "completeUntil",
    date_part('epoch', clock_timestamp()) AS now
  FROM (SELECT) one LEFT JOIN LATERAL (
    SELECT size, complete_until FROM public.checkpoint ORDER BY size DESC LIMIT 1
  ) c ON true`;

/**
 * Recomputes the whole log from the records and returns the first fault. Trusts only the key, the witness's
 * notes, and the server to return the stored data.
 *
 * Leaves are compared with the tree by position, and with their records by ID. All are read once, in the
 * order of an index.
 * @param clients connections in transactions of one snapshot. Two are faster than one.
 */
export async function verifyLog(
  clients: [ClientBase, ...ClientBase[]],
  request: VerifyRequest,
): Promise<Report> {
  const started = performance.now();
  const secondsSince = () => (performance.now() - started) / 1_000;
  const [client] = clients;
  const query = queryRunner(client);
  for (const each of clients) await each.query(`${ALWAYS}; ${WALKING}`);
  let [excuses, seconds]: [Excuses | undefined, number | undefined] = [undefined, undefined];
  let indexed = false;
  let fault: Fault | null = null;
  const walks = new Map<KindName, RecordWalk>();
  const witnessed = new Map<number, WitnessNote[]>();
  const trust = new KeyTrust(request.ring);
  const tree = new TreeWalk(trust, witnessed);
  try {
    await requireTables(query);
    excuses = await Excuses.read(query);
    for (const one of [...request.notes, ...excuses.notes]) addBySize(witnessed, one, trust);
    const [row] = await query<NewestCheckpoint>(NEWEST, []);
    const newest = {
      size: row?.size ?? 0,
      completeUntil: row?.completeUntil ?? -Infinity,
      now: row?.now ?? 0,
    };
    for (const kind of KIND_NAMES) {
      walks.set(kind, new RecordWalk(kind, excuses, { from: newest.completeUntil, to: newest.now }));
    }
    const wrongRoot = await tree.walk(client, newest.size).catch(onlyWrongRoot);
    if (!wrongRoot) await excuses.requireSigned(query, trust);
    const wrongRecord = await walkRecords(clients, walks, newest.size, request.onProgress);
    if (wrongRoot)
      throw wrongRecord?.fault.code.startsWith('record_in_') ? wrongRoot : (wrongRecord ?? wrongRoot);
    if (wrongRecord) throw wrongRecord;
    requireComplete(witnessed, newest.size, trust);
    await client.query(COUNTING);
    await checkLeaves(query, newest.size);
    requireNoHiddenRecord(walks.values());
    await requireNoOrphans(query, new Map([...walks].map(([kind, { found }]) => [kind, found.related])));
    await checkEvidence(query, client, excuses);
    seconds = secondsSince();
    indexed = await checkSearchIndex(query, request.indexDelaySeconds ?? INDEX_DELAY_SECONDS);
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    ({ fault } = error);
  }
  return toReport(
    fault,
    [...walks.values()].map(({ found }) => found),
    tree,
    excuses,
    request.notes.length,
    indexed,
    seconds ?? secondsSince(),
  );
}

/** Returns a wrong root as the fault. It shows only that leaves were changed. The records may show which. */
function onlyWrongRoot(error: unknown): LogFault {
  if (error instanceof LogFault && error.fault.code === 'root_differs') return error;
  throw error;
}

/**
 * Walks through the kinds, one per connection at once.
 * @returns the first fault in the log.
 */
async function walkRecords(
  clients: ClientBase[],
  walks: ReadonlyMap<KindName, RecordWalk>,
  size: number,
  onProgress: VerifyRequest['onProgress'],
): Promise<LogFault | undefined> {
  const faults: LogFault[] = [];
  const left = walks.values();
  let done = 0;
  const onPage = (records: number) => onProgress?.((done += records), size);
  const workers = clients.map(async (client) => {
    for (const walk of left) {
      await walk.walk(client, size, onPage).catch((error: unknown) => {
        if (!(error instanceof LogFault)) throw error;
        faults.push(error);
      });
      if (faults.length > 0) return;
    }
  });
  // The caller ends the transactions, so no query may still run.
  const ended = await Promise.allSettled(workers);
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
  return faults.sort((one, other) => (one.fault.leaf ?? 0) - (other.fault.leaf ?? 0))[0];
}

/** Groups notes by size, their second line. Signatures are checked once the tree reaches that size. */
function addBySize(sizes: Map<number, WitnessNote[]>, one: WitnessNote, trust: KeyTrust): void {
  const line = one.note.split('\n', 2)[1] ?? '';
  const size = /^[1-9]\d{0,15}$/.test(line)
    ? Number(line)
    : readOwn(() => trust.read(one.note), one.source, one.place).size;
  sizes.set(size, [...(sizes.get(size) ?? []), one]);
}

function requireComplete(witnessed: ReadonlyMap<number, WitnessNote[]>, size: number, trust: KeyTrust): void {
  for (const [beyond, notes] of witnessed) {
    if (beyond <= size) continue;
    for (const { note, source, place } of notes) {
      readOwn(() => trust.read(note), source, place);
      throw new LogFault(
        'log_cut_off',
        `The log has ${size} leaves, but ${source} covers ${beyond}. The newest records were removed ` +
          'with their seals, or an older backup was restored.',
        { leaf: size, to_leaf: beyond - 1, ...place },
      );
    }
  }
}

/** Requires that all records without a leaf are new. */
function requireNoHiddenRecord(walks: Iterable<RecordWalk>): void {
  for (const { found } of walks) {
    if (!found.hidden) continue;
    const meaning =
      'The record is not sealed, but all other records of its time are. It was inserted without the sealer.';
    throw new LogFault('record_in_the_past', meaning, found.hidden);
  }
}

function toReport(
  fault: Fault | null,
  walked: WalkResult[],
  { head, checkpoints }: TreeWalk,
  excuses: Excuses | undefined,
  witnessed: number,
  indexed: boolean,
  seconds: number,
): Report {
  const total = (count: (one: WalkResult) => number) => walked.reduce((sum, one) => sum + count(one), 0);
  const records = total(({ leaves }) => leaves);
  const oldest = Math.min(...walked.map((one) => one.oldest));
  return {
    ok: fault === null,
    fault,
    records,
    root: head?.root.toString('base64') ?? null,
    checkpoints,
    witnessed,
    unsealed: {
      count: total(({ unsealed }) => unsealed),
      oldest: Number.isFinite(oldest) ? new Date(oldest * 1_000).toISOString() : null,
    },
    pruned: total(({ pruned }) => pruned),
    erasures: excuses?.count.erasures ?? 0,
    prunings: excuses?.count.prunings ?? 0,
    search_index: indexed,
    seconds: Number(seconds.toFixed(3)),
    records_per_second: Math.round(records / seconds),
  };
}
