import { Head, readHead } from './head';
import { CompactRange, foldSubtrees } from './merkle';
import { Verifier } from './note';
import { Ask, DamagedLog, storedEdge } from './tree-store';

/** The log is not as this process knows it. It must not be extended: what is signed then would hide what was done. */
export class LogRefusal extends Error {}

interface StoredHead {
  /** Of the newest checkpoint, as the database says it. */
  size: number;
  note: string;
  signer: Verifier;
  /** What is known of the log, and not smaller; undefined: nothing. */
  trusted: Head | undefined;
}

/**
 * Reads the newest checkpoint: it must be signed by our key, fit the hashes that are kept, and go on from what is known.
 * @throws LogRefusal
 */
export async function checkHead(ask: Ask, { size, note, signer, trusted }: StoredHead) {
  const head = ownHead(note, signer);
  const range = CompactRange.of(size, await edgeOf(ask, size));
  if (head.size !== size) throw isWrong(`the checkpoint of ${size} leaves is signed for ${head.size}`);
  if (!range.root().equals(head.root))
    throw isWrong(`the ${size} leaves that are kept have another root than was signed`);
  if (trusted) {
    const root = trusted.size === size ? head.root : foldSubtrees(await edgeOf(ask, trusted.size));
    if (!root.equals(trusted.root)) throw isWrong(`its first ${trusted.size} leaves are others than before`);
  }
  return { head, range };
}

/** @throws LogRefusal if our key did not sign it. */
export function ownHead(note: string, signer: Verifier): Head {
  try {
    return readHead(note, signer);
  } catch (error) {
    throw isWrong((error as Error).message);
  }
}

export function isSmaller(size: number, before: number): LogRefusal {
  return new LogRefusal(
    `the log has ${size} leaves and had ${before}: its newest were taken away, or an older backup was restored. Nothing more is ` +
      'sealed. Restore a newer backup; if there is none, keep CHECKPOINT_FILE as evidence, put it elsewhere and start again.',
  );
}

async function edgeOf(ask: Ask, size: number): Promise<Buffer[]> {
  try {
    return await storedEdge(ask, size);
  } catch (error) {
    throw error instanceof DamagedLog ? isWrong(error.message) : error;
  }
}

function isWrong(reason: string): LogRefusal {
  return new LogRefusal(
    `the log is not as it was signed: ${reason}. Nothing more is sealed. Run audit verify to see what was changed; if other ` +
      'instances sign too, give all of them the same LOG_SIGNING_KEY.',
  );
}
