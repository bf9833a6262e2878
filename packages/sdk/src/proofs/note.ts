import { type Bytes, fromBase64, HASH_BYTES, sha256, toHex, utf8 } from './bytes.ts';

/**
 * Signed notes (https://c2sp.org/signed-note) with Ed25519, and the checkpoints in them
 * (https://c2sp.org/tlog-checkpoint).
 */

const ED25519 = 0x01;
const KEY_ID_BYTES = 4;
const KEY = /^([^+\s]+)\+([0-9a-f]{8})\+(.*)$/;
const KEY_LINE = 'key ';
const SIGNATURE_LINE = /^\u2014 ([^ ]+) ([^ ]+)$/;

/** A trusted key. */
export interface Verifier {
  /** Verifier key as text. */
  key: string;
  name: string;
  /** Key ID: 8 hexadecimal digits. */
  id: string;
  /** Raw Ed25519 key. */
  publicKey: Bytes;
}

export interface Checkpoint {
  /** Name of the log. */
  origin: string;
  /** Number of leaves. */
  size: number;
  /** Root of the Merkle tree. */
  root: Bytes;
  /** Verifier keys in the text: several during a change of the log's key. */
  keys: string[];
}

/**
 * Reads a verifier key.
 * @param key `<name>+<id>+<base64(0x01 || public key)>`.
 * @throws Error with the fault of the key.
 */
export async function verifierOf(key: string): Promise<Verifier> {
  const [, name = '', id = '', base64 = ''] = KEY.exec(key) ?? [];
  const typed = fromBase64(base64);
  if (name === '' || typed?.length !== 1 + HASH_BYTES || typed[0] !== ED25519) {
    throw new Error('The key of the log is not a verifier key of type Ed25519.');
  }
  const expected = toHex(await sha256(utf8(`${name}\n`), typed)).slice(0, 2 * KEY_ID_BYTES);
  if (expected !== id)
    throw new Error('The key of the log is damaged: its ID does not match its name and key.');
  return { key, name, id, publicKey: typed.slice(1) };
}

/**
 * Reads the text of a note and its signatures, without verifying them.
 * @throws Error if the note is malformed.
 */
export function parseNote(note: string): {
  text: string;
  signatures: { name: string; id: string; bytes: Bytes }[];
} {
  const end = note.lastIndexOf('\n\n') + 1;
  if (end === 0 || !note.endsWith('\n') || /[^\n\u0020-\u{10ffff}]|\p{Surrogate}/u.test(note)) {
    throw new Error('The checkpoint is not a signed note.');
  }
  const lines = note.slice(end + 1, -1).split('\n');
  const signatures = lines.map((line) => {
    const [, name = '', base64 = ''] = SIGNATURE_LINE.exec(line) ?? [];
    const bytes = fromBase64(base64);
    if (name === '' || bytes === undefined || bytes.length <= KEY_ID_BYTES) {
      throw new Error('The checkpoint has a line that is not a signature.');
    }
    return { name, id: toHex(bytes.slice(0, KEY_ID_BYTES)), bytes: bytes.slice(KEY_ID_BYTES) };
  });
  return { text: note.slice(0, end), signatures };
}

/**
 * Verifies a note. Returns its text, and the keys that signed it. Ignores signatures of other keys.
 * @throws Error if none of the keys signed it, or if a signature of one of them is wrong.
 */
export async function openNote(
  note: string,
  ...keys: Verifier[]
): Promise<{ text: string; signers: Verifier[] }> {
  const { text, signatures } = parseNote(note);
  const signers: Verifier[] = [];
  for (const key of keys) {
    const own = signatures.filter(({ name, id }) => name === key.name && id === key.id);
    const imported = await crypto.subtle.importKey('raw', key.publicKey, 'Ed25519', false, ['verify']);
    for (const { bytes } of own) {
      if (!(await crypto.subtle.verify('Ed25519', imported, bytes, utf8(text)))) {
        throw new Error("The checkpoint's signature does not match its text. One of them was changed.");
      }
    }
    if (own.length > 0) signers.push(key);
  }
  if (signers.length === 0) {
    const names = keys.map(({ name, id }) => `${name}+${id}`);
    throw new Error(`The checkpoint is not signed by the log's key ${names.join(' or ')}.`);
  }
  return { text, signers };
}

/**
 * Reads the checkpoint in the text of a note.
 * @throws Error if the text is not a checkpoint.
 */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin = '', size = '', hash = '', ...more] = text.split('\n');
  const root = fromBase64(hash);
  const isSize = /^(0|[1-9]\d*)$/.test(size) && Number.isSafeInteger(Number(size));
  if (
    origin === '' ||
    !isSize ||
    root?.length !== HASH_BYTES ||
    more.at(-1) !== '' ||
    more.slice(0, -1).includes('')
  ) {
    throw new Error('The note is not a checkpoint. It must have lines for origin, size, and root hash.');
  }
  const keys = more.filter((line) => line.startsWith(KEY_LINE)).map((line) => line.slice(KEY_LINE.length));
  return { origin, size: Number(size), root, keys };
}

/** Returns the missing part of Web Crypto. Undefined in a complete environment. */
export async function missingCryptoOf(): Promise<'web-crypto' | 'ed25519' | undefined> {
  if (typeof crypto === 'undefined' || !('subtle' in crypto)) return 'web-crypto';
  return crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']).then(
    () => undefined,
    () => 'ed25519' as const,
  );
}
