import { HASH_BYTES } from './merkle';
import { decodeBase64, KeyRing, openNote, Signer, signNote, Verifier } from './note';

/** State of a log at one moment, in a signed note (https://c2sp.org/tlog-checkpoint). */
interface Checkpoint {
  /** Globally unique name of the log. */
  origin: string;
  /** Number of leaves. */
  size: number;
  /** Root hash of the Merkle tree (RFC 6962). */
  root: Buffer;
  /** Further lines. Monitors do not audit them. */
  extensions?: string[];
}

/**
 * Returns the text to sign.
 * @throws Error if it could not be parsed again.
 */
export function formatCheckpoint({ origin, size, root, extensions = [] }: Checkpoint): string {
  const lines = [origin, String(size), root.toString('base64'), ...extensions];
  if (!Number.isSafeInteger(size) || size < 0) throw new RangeError(`A log cannot have ${size} leaves.`);
  if (root.length !== HASH_BYTES) throw new RangeError('The root of a checkpoint must have 32 bytes.');
  if (lines.some((line) => line === '' || line.includes('\n'))) {
    throw new Error('The origin and each extension of a checkpoint must be one non-empty line.');
  }
  return `${lines.join('\n')}\n`;
}

/**
 * Parses the text of a note from `openNote`.
 * @throws Error that describes the malformed part.
 */
export function parseCheckpoint(text: string): Required<Checkpoint> {
  const [origin = '', size = '', hash = '', ...more] = text.split('\n');
  const extensions = more.slice(0, -1);
  const root = decodeBase64(hash);
  if (origin === '' || more.at(-1) !== '' || extensions.includes('')) {
    throw new Error(
      'This is not a checkpoint. It must have non-empty lines for origin, size, and root hash.',
    );
  }
  if (!/^(0|[1-9]\d*)$/.test(size) || !Number.isSafeInteger(Number(size))) {
    throw new Error('The second line of the checkpoint is not a number of leaves.');
  }
  if (root?.length !== HASH_BYTES) throw new Error('The third line of the checkpoint is not a root hash.');
  return { origin, size: Number(size), root, extensions };
}

/** Content of one of our checkpoints. All of it is signed. */
export interface Head {
  size: number;
  root: Buffer;
  /** ISO 8601 with microseconds, by the database's clock. */
  sealedAt: string;
  /** Time before which all records are in the tree, by the database's clock. Null if unknown. */
  completeUntil: string | null;
}

/** A checkpoint with its keys. */
export interface SignedHead extends Head {
  /** Keys of the ring that signed it, at least one. */
  signers: readonly Verifier[];
  /** Verifier keys in the text of a checkpoint with several signatures: the log's keys from there on. */
  keys: readonly string[];
}

/** Prefixes of the extension lines. The database owner can rewrite columns, but not these signed lines. */
const SEALED = 'sealed ';
const COMPLETE = 'complete ';
const KEY = 'key ';

/**
 * Signs a checkpoint with all current keys. The log's origin is the name of its keys, as
 * https://c2sp.org/tlog-checkpoint recommends. With several keys, the text names them: a holder of one learns
 * the others from a signed text.
 */
export function signHead(
  { size, root, sealedAt, completeUntil }: Head,
  { name, current }: KeyRing<Signer>,
): string {
  const extensions = [
    `${SEALED}${sealedAt}`,
    ...(completeUntil === null ? [] : [`${COMPLETE}${completeUntil}`]),
    ...(current.length > 1 ? current.map(({ verifierKey }) => `${KEY}${verifierKey}`) : []),
  ];
  return signNote(formatCheckpoint({ origin: name, size, root, extensions }), ...current);
}

/** @throws Error with the reason: not signed by any of the keys, malformed, or of another log. */
export function readHead(note: string, { name, all }: Pick<KeyRing, 'name' | 'all'>): SignedHead {
  const { text, signers } = openNote(note, ...all);
  const { origin, size, root, extensions } = parseCheckpoint(text);
  if (origin !== name) throw new Error(`The checkpoint belongs to the log ${origin}, not to ${name}.`);
  const linesOf = (prefix: string) =>
    extensions.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
  const [sealedAt = ''] = linesOf(SEALED);
  const [completeUntil = null] = linesOf(COMPLETE);
  return { size, root, sealedAt, completeUntil, signers, keys: linesOf(KEY) };
}
