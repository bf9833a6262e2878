import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  KeyObject,
  sign,
  verify,
} from 'node:crypto';

/** C2SP signature type of plain Ed25519 (https://c2sp.org/signed-note), the only supported type. */
const ED25519 = 0x01;
const SEED_BYTES = 32;
const KEY_ID_BYTES = 4;
/** Maximum number of signatures, as in Go's note package. */
const MAX_SIGNATURES = 100;
const MAX_NOTE_LENGTH = 1_000_000;
/** Bytes before a seed in PKCS #8 (RFC 8410, section 7), the shortest private key format of Node. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const PRIVATE_PREFIX = 'PRIVATE+KEY+';
const SIGNATURE_LINE = /^\u2014 ([^ ]+) ([^ ]+)$/;

/** Verifies signatures of one key. */
export interface Verifier {
  readonly name: string;
  /** `<name>+<id>+<base64(0x01 || public key)>`: the published form of the key. */
  readonly verifierKey: string;
  readonly publicKey: KeyObject;
}

/** Signs, and verifies its signatures. A KeyObject keeps the private key from accidental serialization. */
export interface Signer extends Verifier {
  readonly privateKey: KeyObject;
}

/**
 * Generates a signing key in the format of Go's note package: `PRIVATE+KEY+<name>+<id>+<base64(0x01 ||
 * seed)>`. The result is secret.
 */
export function newSigningKey(name: string): string {
  if (!isName(name) || name.includes(',')) {
    throw new Error(
      'The name of a signing key must not be empty and must not contain spaces, commas, or "+".',
    );
  }
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-SEED_BYTES);
  return `${PRIVATE_PREFIX}${name}+${keyId(name, rawOf(publicKey)).toString('hex')}+${typed(seed)}`;
}

/**
 * Reads a signing key.
 * @throws Error that describes the fault without quoting the key.
 */
export function signerOf(signingKey: string): Signer {
  const parts = signingKey.startsWith(PRIVATE_PREFIX)
    ? partsOf(signingKey.slice(PRIVATE_PREFIX.length))
    : undefined;
  if (parts === undefined) {
    throw new Error(
      'The signing key is malformed. It must be an Ed25519 key of the form PRIVATE+KEY+<name>+<id>+<base64>.',
    );
  }
  const der = Buffer.concat([PKCS8_PREFIX, parts.key]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  const raw = rawOf(publicKey);
  const id = keyId(parts.name, raw).toString('hex');
  if (id !== parts.id) throw new Error('The signing key is damaged: its ID does not match its name and key.');
  return { name: parts.name, verifierKey: `${parts.name}+${id}+${typed(raw)}`, publicKey, privateKey };
}

/**
 * Reads a verifier key in the form of `Verifier.verifierKey`.
 * @throws Error that describes the fault.
 */
export function verifierOf(verifierKey: string): Verifier {
  const parts = partsOf(verifierKey);
  if (parts === undefined) {
    throw new Error(
      'The verifier key is malformed. It must be an Ed25519 key of the form <name>+<id>+<base64>.',
    );
  }
  if (keyId(parts.name, parts.key).toString('hex') !== parts.id) {
    throw new Error('The verifier key is damaged: its ID does not match its name and key.');
  }
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: parts.key.toString('base64url') };
  return { name: parts.name, verifierKey, publicKey: createPublicKey({ key: jwk, format: 'jwk' }) };
}

/** Returns a note: the text, which must end with a newline, a blank line, and the signatures. */
export function signNote(text: string, ...signers: readonly Signer[]): string {
  if (!text.endsWith('\n') || !isText(text)) {
    throw new Error('The text of a note must end with a newline and have no other control characters.');
  }
  const lines = signers.map((signer) => {
    const signature = Buffer.concat([idOf(signer), signBytes(signer, Buffer.from(text))]);
    return `\u2014 ${signer.name} ${signature.toString('base64')}\n`;
  });
  return `${text}\n${lines.join('')}`;
}

/** A note with verified signatures. */
interface OpenedNote {
  text: string;
  /** Given keys that signed it, at least one. */
  signers: Verifier[];
}

/**
 * Opens a note. Ignores the signatures of other keys, as the specification demands.
 * @throws Error if the note is malformed, if no key signed it, or if a signature of a key is wrong.
 */
export function openNote(note: string, ...keys: readonly Verifier[]): OpenedNote {
  const { text, signatures } = parseNote(note);
  const signers = keys.filter((key) => {
    const own = signatures.filter(({ name, id }) => name === key.name && id.equals(idOf(key)));
    if (own.every(({ signature }) => verifyBytes(key, Buffer.from(text), signature))) return own.length > 0;
    throw new Error(
      `The signature of ${key.name} does not match the text of the note. One of them was changed.`,
    );
  });
  if (signers.length === 0) {
    throw new Error(`The note is not signed by ${keys.map(({ verifierKey }) => verifierKey).join(' or ')}.`);
  }
  return { text, signers };
}

/** Returns a raw Ed25519 signature (RFC 8032). A prefix must prevent that the bytes pass for a note. */
export function signBytes(signer: Signer, bytes: Uint8Array): Buffer {
  return sign(null, bytes, signer.privateKey);
}

/** Returns whether the key made this raw Ed25519 signature over the bytes. */
export function verifyBytes(verifier: Verifier, bytes: Uint8Array, signature: Uint8Array): boolean {
  return verify(null, bytes, verifier.publicKey, signature);
}

/**
 * Splits a file of notes that are each followed by a blank line. Returns an incomplete note unchanged, for
 * `openNote` to reject. Texts must not have a line that looks like a signature before a blank line.
 */
export function splitNotes(file: string): string[] {
  return file.split(/(?<=^\u2014 [^\n]*\n)\n+/m).filter((note) => note !== '');
}

/** Decodes base64 (RFC 4648, section 4). Undefined unless the text is canonical. */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

function parseNote(note: string) {
  const end = note.lastIndexOf('\n\n') + 1;
  if (note.length > MAX_NOTE_LENGTH || !isText(note) || end === 0 || !note.endsWith('\n')) {
    throw new Error(
      'This is not a signed note. It must be a text, a blank line, and signatures, each on its own line.',
    );
  }
  const lines = note.slice(end + 1, -1).split('\n');
  if (lines.length > MAX_SIGNATURES) throw new Error(`A note can have at most ${MAX_SIGNATURES} signatures.`);
  return { text: note.slice(0, end), signatures: lines.map(parseSignature) };
}

function parseSignature(line: string) {
  const [, name = '', base64 = ''] = SIGNATURE_LINE.exec(line) ?? [];
  const bytes = decodeBase64(base64);
  if (!isName(name) || bytes === undefined || bytes.length <= KEY_ID_BYTES) {
    throw new Error('A signature line of the note is malformed. It must be "\u2014 <name> <base64>".');
  }
  return { name, id: bytes.subarray(0, KEY_ID_BYTES), signature: bytes.subarray(KEY_ID_BYTES) };
}

/** Splits `<name>+<id>+<base64(0x01 || key)>`. The base64 may contain more plus signs. */
function partsOf(text: string): { name: string; id: string; key: Buffer } | undefined {
  const [, name = '', id = '', base64 = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.*)$/.exec(text) ?? [];
  const key = decodeBase64(base64);
  if (!isName(name) || key?.length !== 1 + SEED_BYTES || key[0] !== ED25519) return undefined;
  return { name, id, key: key.subarray(1) };
}

function keyId(name: string, publicKey: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(ED25519), publicKey]);
  return hash('sha256', named, 'buffer').subarray(0, KEY_ID_BYTES);
}

const idOf = ({ name, publicKey }: Verifier) => keyId(name, rawOf(publicKey));
const rawOf = (publicKey: KeyObject) => Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url');
const typed = (key: Buffer) => Buffer.concat([Buffer.of(ED25519), key]).toString('base64');
/** Valid UTF-8 without control characters below U+0020, except newlines. */
const isText = (text: string) => !/[^\n\u0020-\u{10ffff}]|\p{Surrogate}/u.test(text);
const isName = (name: string) => name !== '' && isText(name) && !/[+\n]|\p{White_Space}/u.test(name);

/** Keys of a log. All have its name. */
export interface KeyRing<Current extends Verifier = Verifier> {
  /** Name of the log. */
  readonly name: string;
  /** Keys that sign now, newest first. */
  readonly current: readonly Current[];
  /** Current and former keys. */
  readonly all: readonly Verifier[];
}

/** @throws Error if the keys belong to several logs, or if one is listed twice. */
export function ringOf<Current extends Verifier>(
  current: readonly Current[],
  retired: readonly Verifier[] = [],
): KeyRing<Current> {
  const all = [...current, ...retired];
  const [first] = all;
  if (!first || current.length === 0) throw new Error('There is no key.');
  const other = all.find(({ name }) => name !== first.name);
  if (other) {
    throw new Error(
      `All keys of a log must have its name, but one is named ${first.name} and one ${other.name}.`,
    );
  }
  const twice = all.find(
    (key, place) => all.findIndex((one) => one.verifierKey === key.verifierKey) !== place,
  );
  if (twice) throw new Error(`The key ${twice.verifierKey} is listed twice.`);
  return { name: first.name, current, all };
}

/** Returns the newest current key, if any current key has signed. */
export function currentOf<Current extends Verifier>(
  { current }: KeyRing<Current>,
  signers: readonly Verifier[],
): Current | undefined {
  return current.find((key) => signers.some(({ verifierKey }) => verifierKey === key.verifierKey));
}
