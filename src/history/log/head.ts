import { formatCheckpoint, parseCheckpoint } from './checkpoint';
import { KeyRing } from './key-ring';
import { openNote, Signer, signNote, Verifier } from './note';

/** The content of one of our checkpoints. All of it is signed. */
export interface Head {
  size: number;
  root: Buffer;
  /** By the database's clock. ISO 8601 with microseconds. */
  sealedAt: string;
  /** Everything written before this time is in the tree, by the database's clock. Null if unknown. */
  completeUntil: string | null;
}

/** A checkpoint as it was read, with its keys. */
export interface SignedHead extends Head {
  /** The keys of the ring that signed it, at least one. */
  signers: readonly Verifier[];
  /** The verifier keys that its text names, if several signed it: those of the log from there on. */
  keys: readonly string[];
}

/** The extension lines of a checkpoint. The database owner can rewrite columns, but not these signed lines. */
const SEALED = 'sealed ';
const COMPLETE = 'complete ';
const KEY = 'key ';

/**
 * Signs a checkpoint with all current keys. The log's origin is the name of its keys, as
 * https://c2sp.org/tlog-checkpoint recommends. If there are several keys, the text names them, so that the holders of one
 * learn the others from a text that it signed.
 */
export function signHead({ size, root, sealedAt, completeUntil }: Head, { name, current }: KeyRing<Signer>): string {
  const extensions = [
    `${SEALED}${sealedAt}`,
    ...(completeUntil === null ? [] : [`${COMPLETE}${completeUntil}`]),
    ...(current.length > 1 ? current.map(({ verifierKey }) => `${KEY}${verifierKey}`) : []),
  ];
  return signNote(formatCheckpoint({ origin: name, size, root, extensions }), ...current);
}

/** @throws Error that says why: not signed by one of the keys, malformed, or of another log. */
export function readHead(note: string, { name, all }: Pick<KeyRing, 'name' | 'all'>): SignedHead {
  const { text, signers } = openNote(note, ...all);
  const { origin, size, root, extensions } = parseCheckpoint(text);
  if (origin !== name) throw new Error(`The checkpoint belongs to the log ${origin}, not to ${name}.`);
  const said = (word: string) =>
    extensions.filter((line) => line.startsWith(word)).map((line) => line.slice(word.length));
  const [sealedAt = ''] = said(SEALED);
  const [completeUntil = null] = said(COMPLETE);
  return { size, root, sealedAt, completeUntil, signers, keys: said(KEY) };
}
