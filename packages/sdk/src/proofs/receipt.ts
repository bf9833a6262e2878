import { VerificationError } from '../errors.ts';
import type { Receipt } from '../types.ts';
import { type Bytes, fromBase64, fromHex, sha256, toHex, utf8 } from './bytes.ts';
import { canonical, parseStrictly } from './canonical.ts';
import { leafHash, verifyInclusion } from './merkle.ts';
import { type Checkpoint, openNote, parseCheckpoint, verifierOf } from './note.ts';

/** A record of a call that the log has signed. */
export interface ProvedRecord {
  kind: string;
  /** The position of its leaf in the log. */
  index: number;
  record: Record<string, unknown>;
  /** The values behind commitments, by their paths: text, or base64 of what is no text. */
  opened: Record<string, string>;
}

/** What a receipt proves. */
export interface ProvedReceipt {
  callId: string;
  /** The name of the log. */
  origin: string;
  /** The number of records in the log. */
  size: number;
  /** The key of yours that signed it. */
  key: string;
  records: ProvedRecord[];
}

const FORMAT = 'payout-proxy/receipt/1';
/**
 * The exact number of bytes of a salt. Otherwise the first letters of a value could pass as the end of its
 * salt.
 */
const SALT_BYTES = 16;

/**
 * Verifies a receipt offline: that the log has signed exactly these records. It does not prove that the call
 * has no other records, or that everybody is shown the same log.
 * @param receipt its text, or what `calls.receipt` returns. A file of somebody else should be passed as text,
 * because JSON that names a member twice is read differently by different programs.
 * @param keys the verifier key of the log, `<name>+<id>+<base64>`, or several. Get it from another source
 * than the receipt.
 * @throws VerificationError that names the first fault.
 */
export async function verifyReceipt(
  receipt: Receipt | string,
  keys: string | readonly string[],
): Promise<ProvedReceipt> {
  try {
    return await verified(
      typeof receipt === 'string' ? (parseStrictly(receipt) as Receipt) : receipt,
      [keys].flat(),
    );
  } catch (error) {
    if (error instanceof VerificationError) throw error;
    const text = error instanceof Error ? error.message : String(error);
    throw new VerificationError(`The receipt does not hold. ${text}`, { cause: error });
  }
}

async function verified(receipt: Receipt, keys: string[]): Promise<ProvedReceipt> {
  must(receipt?.format === FORMAT, `It is not of the format ${FORMAT}.`);
  const { call_id: callId, log, checkpoint: note, records } = receipt;
  must(Array.isArray(records) && records.length > 0, 'It has no records, and so proves nothing.');
  const verifiers = await Promise.all([log.key, ...keys].map(verifierOf));
  const { text, signers } = await openNote(note, ...verifiers);
  must(
    signers.some(({ key }) => key === log.key),
    'Its checkpoint is not signed by the key that it names.',
  );
  const signer = signers.find(({ key }) => keys.includes(key));
  must(signer !== undefined, 'None of your keys signed it.');
  const checkpoint = parseCheckpoint(text);
  must(checkpoint.origin === log.origin && signer.name === log.origin, 'Its checkpoint is of another log.');
  const indexes = new Set(records.map(({ index }) => index));
  must(indexes.size === records.length, 'It has the same leaf twice.');
  const proved: ProvedRecord[] = [];
  for (const entry of records) proved.push(await verifiedRecord(entry, callId, checkpoint));
  return { callId, origin: checkpoint.origin, size: checkpoint.size, key: signer.key, records: proved };
}

type Entry = Receipt['records'][number];

async function verifiedRecord(
  entry: Entry,
  callId: string,
  { size, root }: Checkpoint,
): Promise<ProvedRecord> {
  const { kind, index, record, proof, openings = [] } = entry;
  must(record.table === kind, `A record is labelled as ${kind}, and is of another kind.`);
  const ofCall = Object.hasOwn(record, 'intent_id') ? record.intent_id : record.id;
  must(typeof callId === 'string' && ofCall === callId, `The ${kind} is a record of another call.`);
  const hashes = proof.map((hash) => fromBase64(hash) ?? new Uint8Array());
  const claim = { index, size, root, leafHash: await leafHash(canonical(record)), proof: hashes };
  must(
    await verifyInclusion(claim),
    `The ${kind} is not in the log: the record, its index or its proof was changed.`,
  );
  const opened = await Promise.all(openings.map((opening) => openedValue(opening, record, kind)));
  return { kind, index, record, opened: Object.fromEntries(opened) };
}

async function openedValue(
  { commitment, salt, value, encoding }: Entry['openings'][number],
  record: Record<string, unknown>,
  kind: string,
): Promise<[path: string, value: string]> {
  const committed = committedIn(record, commitment);
  const salted = fromHex(salt);
  const bytes =
    encoding === 'utf8' ? textBytes(value) : encoding === 'base64' ? fromBase64(value) : undefined;
  const isReadable = committed !== undefined && salted?.length === SALT_BYTES && bytes !== undefined;
  const isOpened = isReadable && toHex(await sha256(salted, bytes)) === committed;
  must(isOpened, `The ${kind} shows another value than it commits to in ${commitment}.`);
  return [commitment, value];
}

/**
 * Returns the commitment at a path of the record, such as `items/0/email_commitment`. Undefined if there is
 * none.
 */
function committedIn(record: Record<string, unknown>, path: string): string | undefined {
  if (!/(^|\/)[a-z_]+_commitment$/.test(path)) return undefined;
  let at: unknown = record;
  for (const name of path.split('/')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return typeof at === 'string' ? at : undefined;
}

/** Undefined for half a character, which has no bytes of its own. */
function textBytes(text: string): Bytes | undefined {
  const bytes = utf8(text);
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) === text ? bytes : undefined;
}

function must(holds: boolean, fault: string): asserts holds {
  if (!holds) throw new VerificationError(`The receipt does not hold. ${fault}`);
}
