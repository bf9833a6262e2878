import { formatCheckpoint, parseCheckpoint } from './checkpoint';
import { openNote, Signer, signNote, Verifier } from './note';

/** What a checkpoint of ours says, all of it signed. */
export interface Head {
  size: number;
  root: Buffer;
  /** By the database's clock; ISO 8601, microseconds. */
  sealedAt: string;
  /** All that was written before this is in the tree; by the database's clock. Null: not known. */
  completeUntil: string | null;
}

/** Extension lines of the checkpoint: whoever has the database can rewrite its columns, but not these. */
const SEALED = 'sealed ';
const COMPLETE = 'complete ';

/** Signs a checkpoint; the log's origin is the name of its key, as https://c2sp.org/tlog-checkpoint recommends. */
export function signHead({ size, root, sealedAt, completeUntil }: Head, signer: Signer): string {
  const extensions = [`${SEALED}${sealedAt}`, ...(completeUntil === null ? [] : [`${COMPLETE}${completeUntil}`])];
  return signNote(formatCheckpoint({ origin: signer.name, size, root, extensions }), signer);
}

/** @throws Error that says what is wrong: not signed by this key, malformed, or of another log. */
export function readHead(note: string, verifier: Verifier): Head {
  const { text } = openNote(note, [verifier]);
  const { origin, size, root, extensions } = parseCheckpoint(text);
  if (origin !== verifier.name)
    throw new Error(`The checkpoint belongs to the log ${origin}, not to ${verifier.name}.`);
  const said = (word: string) => extensions.find((line) => line.startsWith(word))?.slice(word.length) ?? null;
  return { size, root, sealedAt: said(SEALED) ?? '', completeUntil: said(COMPLETE) };
}
