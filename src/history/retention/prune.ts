import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { ClientError } from '../../access/clients/client-error';
import { uuidTime } from '../../platform/database/uuid';
import { codeOf } from '../../platform/errors/error-code';
import { readHead } from '../log/head';
import { KeyRing, splitNotes } from '../log/note';
import { RemovalRequest } from './erasures';
import { Month, monthsBefore } from './months';
import { dropDetached, Losses, lossesOf, monthsIn, pruneMonth, PruningTarget } from './prune-month';

/** A month that was pruned. For a dry run, a month to prune. */
export interface PruneResult {
  month: string;
  /** Calls that were removed, or lost their bodies and recipients. */
  calls: number;
  /** Calls that stay: in doubt, in progress, or pending approval. */
  kept: number;
}

export interface PruneRequest extends RemovalRequest {
  /** Months that ended before this instant are pruned. */
  before: Date;
  what: PruningTarget;
  /** File with signed checkpoints outside the database. */
  checkpointFile: string;
}

/**
 * Prunes all months that are old enough, oldest first.
 * @param dryRun only reports the months, and whether they can be pruned.
 */
export async function prune(
  db: Client,
  request: PruneRequest,
  dryRun: boolean,
  pruned: (month: PruneResult) => void,
): Promise<PruneResult[]> {
  if (!dryRun) await dropDetached(db); // From an interrupted prune.
  const due: { month: Month; losses: Losses }[] = [];
  for (const month of await monthsBefore(db, request.before, monthsIn(request.what))) {
    const losses = await lossesOf(db, month, request.what);
    if (losses.rows > 0 || losses.evidence > 0) due.push({ month, losses });
  }
  // Check all months before removing the first. Pruning must not stop halfway.
  const notes = new Map<string, string>();
  for (const { month } of due) notes.set(month.name, await coveringNote(db, month, request));
  for (const { month, losses } of due) {
    if (!dryRun) await pruneMonth(db, month, request.what, losses, notes.get(month.name) ?? '', request);
    pruned(toPruned(month, losses));
  }
  return due.map(({ month, losses }) => toPruned(month, losses));
}

function toPruned({ name }: Month, { rows, kept }: Losses): PruneResult {
  return { month: name, calls: rows, kept: kept.length };
}

/**
 * Returns the checkpoint that proves the records of a month after their removal. It must be in the checkpoint
 * file, signed, and equal to the database's.
 * @throws ClientError without such a checkpoint.
 */
async function coveringNote(
  db: Client,
  month: Month,
  { ring, checkpointFile }: PruneRequest,
): Promise<string> {
  const { unsealed, sealed } = await sealsOf(db, month);
  if (unsealed > 0) {
    const text = `${month.name}: ${unsealed} records are not sealed yet. Nothing was pruned.`;
    throw new ClientError(`${text} Keep the proxy running until they are sealed.`);
  }
  const { note, size, root } = latestNote(checkpointFile, ring);
  const { rows } = await db.query<{ root: Buffer }>('SELECT root FROM checkpoint WHERE size = $1', [size]);
  if (!rows[0]?.root.equals(root)) {
    const text = `The latest checkpoint of ${checkpointFile} is not in the database. Nothing was pruned.`;
    throw new ClientError(`${text} Run audit verify to find the cause.`);
  }
  if (size < sealed) {
    const text = `${month.name}: the latest checkpoint of ${checkpointFile} does not cover it.`;
    throw new ClientError(`${text} Nothing was pruned. Give a newer copy with --checkpoint.`);
  }
  return note;
}

/** Returns the number of unsealed records of a month, and the size of the log that covers the sealed ones. */
async function sealsOf(db: Client, { from, to }: Month): Promise<{ unsealed: number; sealed: number }> {
  const unsealed = (['intent', 'outcome', 'refusal'] as const).map((kind) => {
    const id = kind === 'outcome' ? 'intent_id' : 'id';
    return `(SELECT count(*) FROM ${kind} t WHERE t.${id} >= $1 AND t.${id} < $2
             AND NOT EXISTS (SELECT FROM leaf WHERE leaf.id = t.${id} AND leaf.kind = '${kind}'))`;
  });
  const { rows } = await db.query<{ unsealed: string; sealed: string }>(
    `WITH leaf AS MATERIALIZED (
       SELECT l.kind, n.id, l.first + n.place AS size FROM log_leaves l
         CROSS JOIN LATERAL unnest(l.ids) WITH ORDINALITY n(id, place)
       WHERE l.span && int8range($3, $4) AND n.id >= $1 AND n.id < $2)
     SELECT ${unsealed.join(' + ')} AS unsealed, (SELECT coalesce(max(size), 0) FROM leaf) AS sealed`,
    [from, to, uuidTime(from).getTime(), uuidTime(to).getTime()],
  );
  return { unsealed: Number(rows[0]?.unsealed), sealed: Number(rows[0]?.sealed) };
}

/** Returns the newest note that a key of the log signed. The last one may be incomplete, as after a crash. */
function latestNote(file: string, ring: KeyRing): { note: string; size: number; root: Buffer } {
  for (const note of notesIn(file).reverse()) {
    try {
      const { size, root } = readHead(note, ring);
      return { note, size, root };
    } catch {
      continue;
    }
  }
  throw new ClientError(
    `The file ${file} contains no checkpoint signed by the log's key. Nothing was pruned.`,
  );
}

function notesIn(file: string): string[] {
  try {
    return splitNotes(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ClientError(
      `The checkpoint file ${file} cannot be read (${codeOf(error)}). Nothing was pruned. Give the file ` +
        'with --checkpoint, or set CHECKPOINT_FILE.',
    );
  }
}
