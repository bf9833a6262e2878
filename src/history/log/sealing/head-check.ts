import { Head, readHead, SignedHead } from '../head';
import { CompactRange, foldSubtrees, subtreesOf } from '../merkle';
import { currentOf, KeyRing } from '../note';
import { QueryRunner, DamagedLog, storedHashes } from '../tree-store';

/**
 * A contradiction between the log and this process's knowledge of it. Extending the log would hide a
 * manipulation under a new signature.
 */
export class LogRefusal extends Error {}

interface StoredHead {
  /** Size of the newest checkpoint in the database. */
  size: number;
  note: string;
  ring: KeyRing;
  /** Largest verified head. Undefined if none. */
  trusted: Head | undefined;
}

/**
 * Reads the newest checkpoint. One of our current keys must have signed it. It must match the stored hashes,
 * and extend the trusted head.
 * @throws LogRefusal
 */
export async function checkHead(query: QueryRunner, { size, note, ring, trusted }: StoredHead) {
  const head = ownHead(note, ring);
  if (!currentOf(ring, head.signers)) {
    throw isWrong(
      'only a key in LOG_RETIRED_KEYS has signed it, which must stay in LOG_SIGNING_KEY until a checkpoint ' +
        'is signed by both',
    );
  }
  const range = CompactRange.of(size, await edgeOf(query, size));
  if (head.size !== size) throw isWrong(`the checkpoint of ${size} leaves is signed for ${head.size}`);
  if (!range.root().equals(head.root))
    throw isWrong(`the root of the ${size} stored leaves differs from the signed root`);
  if (trusted) {
    const root = trusted.size === size ? head.root : foldSubtrees(await edgeOf(query, trusted.size));
    if (!root.equals(trusted.root)) throw isWrong(`its first ${trusted.size} leaves have changed`);
  }
  return { head, range };
}

/** @throws LogRefusal if none of our keys signed it. */
export function ownHead(note: string, ring: KeyRing): SignedHead {
  try {
    return readHead(note, ring);
  } catch (error) {
    throw isWrong((error as Error).message);
  }
}

export function isSmaller(size: number, before: number): LogRefusal {
  return new LogRefusal(
    `the log has ${size} leaves and had ${before}: the newest leaves were removed, or an older backup ` +
      'was restored. Sealing has stopped. Restore a newer backup. If there is none, run database recover ' +
      'with the DATA_DIR of this instance.',
  );
}

/** Reads the right edge of the tree of `size` leaves. */
async function edgeOf(query: QueryRunner, size: number): Promise<Buffer[]> {
  try {
    return await storedHashes(query, subtreesOf(0, size));
  } catch (error) {
    throw error instanceof DamagedLog ? isWrong(error.message) : error;
  }
}

function isWrong(reason: string): LogRefusal {
  return new LogRefusal(
    `the log does not match its signature: ${reason.replace(/\.$/, '')}. Sealing has stopped. Run audit ` +
      'verify to find the change. If other instances sign too, give all of them the same LOG_SIGNING_KEY.',
  );
}
