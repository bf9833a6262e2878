import { HASH_BYTES } from './merkle';
import { decodeBase64 } from './note';

/** The state of a log at one moment, in a signed note (https://c2sp.org/tlog-checkpoint). */
export interface Checkpoint {
  /** The globally unique name of the log. */
  origin: string;
  /** The number of leaves. */
  size: number;
  /** The root hash of the Merkle tree (RFC 6962). */
  root: Buffer;
  /** Further lines. No monitor audits them. */
  extensions?: string[];
}

/** Returns the text to sign. Throws if it could not be parsed again. */
export function formatCheckpoint({ origin, size, root, extensions = [] }: Checkpoint): string {
  const lines = [origin, String(size), root.toString('base64'), ...extensions];
  if (!Number.isSafeInteger(size) || size < 0) throw new RangeError(`A log cannot have ${size} leaves.`);
  if (root.length !== HASH_BYTES) throw new RangeError('The root of a checkpoint must have 32 bytes.');
  if (lines.some((line) => line === '' || line.includes('\n'))) {
    throw new Error('The origin and each extension of a checkpoint must be one non-empty line.');
  }
  return `${lines.join('\n')}\n`;
}

/** Parses the text of a note, as `openNote` returns it. Throws an Error that says what is malformed. */
export function parseCheckpoint(text: string): Required<Checkpoint> {
  const [origin = '', size = '', hash = '', ...more] = text.split('\n');
  const extensions = more.slice(0, -1);
  const root = decodeBase64(hash);
  if (origin === '' || more.at(-1) !== '' || extensions.includes('')) {
    throw new Error('This is not a checkpoint. It must have non-empty lines for origin, size, and root hash.');
  }
  if (!/^(0|[1-9]\d*)$/.test(size) || !Number.isSafeInteger(Number(size))) {
    throw new Error('The second line of the checkpoint is not a number of leaves.');
  }
  if (root?.length !== HASH_BYTES) throw new Error('The third line of the checkpoint is not a root hash.');
  return { origin, size: Number(size), root, extensions };
}
