import { formatCheckpoint, parseCheckpoint } from './checkpoint';
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

/** The extension lines of a checkpoint. The database owner can rewrite columns, but not these signed lines. */
const SEALED = 'sealed ';
const COMPLETE = 'complete ';

/** Signs a checkpoint. The log's origin is the name of its key, as https://c2sp.org/tlog-checkpoint recommends. */
export function signHead({ size, root, sealedAt, completeUntil }: Head, signer: Signer): string {
  const extensions = [`${SEALED}${sealedAt}`, ...(completeUntil === null ? [] : [`${COMPLETE}${completeUntil}`])];
  return signNote(formatCheckpoint({ origin: signer.name, size, root, extensions }), signer);
}

/** @throws Error that says why: not signed by this key, malformed, or of another log. */
export function readHead(note: string, verifier: Verifier): Head {
  const { origin, size, root, extensions } = parseCheckpoint(openNote(note, verifier));
  if (origin !== verifier.name)
    throw new Error(`The checkpoint belongs to the log ${origin}, not to ${verifier.name}.`);
  const said = (word: string) => extensions.find((line) => line.startsWith(word))?.slice(word.length) ?? null;
  return { size, root, sealedAt: said(SEALED) ?? '', completeUntil: said(COMPLETE) };
}
