import { HASH_BYTES } from './merkle';
import { decodeBase64 } from './note';

/** What a log says of itself at one moment, in a signed note (https://c2sp.org/tlog-checkpoint). */
export interface Checkpoint {
  /** Names the log, uniquely in the world. */
  origin: string;
  /** How many leaves it has. */
  size: number;
  /** The Merkle tree's root hash over them (RFC 6962). */
  root: Buffer;
  /** Further lines. No monitor audits them. */
  extensions?: string[];
}

/** The text that is signed. Throws on what could not be read back. */
export function formatCheckpoint({ origin, size, root, extensions = [] }: Checkpoint): string {
  const lines = [origin, String(size), root.toString('base64'), ...extensions];
  if (!Number.isSafeInteger(size) || size < 0) throw new RangeError(`A log cannot have ${size} leaves.`);
  if (root.length !== HASH_BYTES) throw new RangeError('The root of a checkpoint must have 32 bytes.');
  if (lines.some((line) => line === '' || line.includes('\n'))) {
    throw new Error('The origin and each extension of a checkpoint must be one non-empty line.');
  }
  return `${lines.join('\n')}\n`;
}

/** Of the text of a note, as `openNote` gives it. Throws an Error that says what is malformed. */
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
