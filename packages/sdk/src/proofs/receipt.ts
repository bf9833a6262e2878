import { VerificationError } from '../errors.ts';
import type { Receipt } from '../types.ts';
import { type Bytes, fromBase64, fromHex, sha256, toHex, utf8 } from './bytes.ts';
import { leafHash, verifyInclusion } from './merkle.ts';
import { type Checkpoint, openNote, parseCheckpoint, verifierOf } from './note.ts';

/** A record of a call that the log has signed. */
export interface VerifiedRecord {
  /** Kind of the record, such as `intent`, `outcome` or `settlement`. */
  kind: string;
  /** Position of its leaf in the log. */
  index: number;
  record: Record<string, unknown>;
  /** Values of commitments, by path: text, or base64 of other bytes. */
  opened: Record<string, string>;
}

/** The content that a receipt proves. */
export interface VerifiedReceipt {
  callId: string;
  /** Name of the log. */
  origin: string;
  /** Number of records in the log. */
  size: number;
  /** Your key that signed the log. */
  key: string;
  records: VerifiedRecord[];
}

/** The commitment to the list of the commitments to each recipient. */
const LIST = 'recipients_commitment';
const FORMAT = 'payout-proxy/receipt/1';
/** Exact length of a salt in bytes. With a variable length, the start of a value could pass as salt. */
const SALT_BYTES = 16;

/**
 * Verifies offline that the log has signed exactly these records. A receipt does not prove that the call
 * has no other records, or that all readers see the same log.
 * @param receipt text of a receipt, or the value of `calls.receipt`. Pass a file of another party as text:
 * parsers disagree about JSON with duplicate names.
 * @param keys one or several verifier keys of the log, `<name>+<id>+<base64>`, from another source.
 * @throws VerificationError with the first fault.
 * @example
 * const { records } = await verifyReceipt(await client.calls.receipt(callId), logKey);
 */
export async function verifyReceipt(
  receipt: Receipt | string,
  keys: string | readonly string[],
): Promise<VerifiedReceipt> {
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

async function verified(receipt: Receipt, keys: string[]): Promise<VerifiedReceipt> {
  must(receipt?.format === FORMAT, `It is not of the format ${FORMAT}.`);
  const { call_id: callId, log, checkpoint: note, records } = receipt;
  must(Array.isArray(records) && records.length > 0, 'It has no records.');
  const verifiers = await Promise.all([log.key, ...keys].map(verifierOf));
  const { text, signers } = await openNote(note, ...verifiers);
  must(
    signers.some(({ key }) => key === log.key),
    'Its checkpoint is not signed by the key in the receipt.',
  );
  const signer = signers.find(({ key }) => keys.includes(key));
  must(signer !== undefined, 'None of your keys signed it.');
  const checkpoint = parseCheckpoint(text);
  must(checkpoint.origin === log.origin && signer.name === log.origin, 'Its checkpoint is of another log.');
  const indexes = new Set(records.map(({ index }) => index));
  must(indexes.size === records.length, 'It has the same leaf twice.');
  const proved: VerifiedRecord[] = [];
  for (const entry of records) proved.push(await verifiedRecord(entry, callId, checkpoint));
  return { callId, origin: checkpoint.origin, size: checkpoint.size, key: signer.key, records: proved };
}

type Entry = Receipt['records'][number];

async function verifiedRecord(
  entry: Entry,
  callId: string,
  { size, root }: Checkpoint,
): Promise<VerifiedRecord> {
  const { kind, index, record, proof, openings = [] } = entry;
  must(record.table === kind, `A record with the label ${kind} is of another kind.`);
  const ofCall = Object.hasOwn(record, 'intent_id') ? record.intent_id : record.id;
  must(typeof callId === 'string' && ofCall === callId, `The ${kind} is a record of another call.`);
  const hashes = proof.map((hash) => fromBase64(hash) ?? new Uint8Array());
  const claim = { index, size, root, leafHash: await leafHash(canonical(record)), proof: hashes };
  must(
    await verifyInclusion(claim),
    `The ${kind} is not in the log: the record, its index or its proof was changed.`,
  );
  const list = openings.find(({ commitment }) => commitment === LIST);
  if (list) await openedValue(list, record, kind);
  const proved = { ...record, recipients: list && parseStrictly(list.value) };
  const opened = await Promise.all(openings.map((opening) => openedValue(opening, proved, kind)));
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
  must(isOpened, `The value of ${commitment} does not match the commitment of the ${kind}.`);
  return [commitment, value];
}

/** Returns the commitment at a path of the record, such as `recipients/0/email_commitment`, or undefined. */
function committedIn(record: Record<string, unknown>, path: string): string | undefined {
  if (!/(^|\/)[a-z_]+_commitment$/.test(path)) return undefined;
  let at: unknown = record;
  for (const name of path.split('/')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return typeof at === 'string' ? at : undefined;
}

/** Returns the UTF-8 of a text. Undefined for half a surrogate pair, which has none. */
function textBytes(text: string): Bytes | undefined {
  const bytes = utf8(text);
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) === text ? bytes : undefined;
}

function must(holds: boolean, fault: string): asserts holds {
  if (!holds) throw new VerificationError(`The receipt does not hold. ${fault}`);
}

/** Returns canonical JSON (RFC 8785), which has JavaScript's numbers, strings, and order of names. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

/**
 * Parses JSON.
 * @throws Error for a duplicate name, because parsers disagree about its value (RFC 8259, section 4).
 */
function parseStrictly(text: string): unknown {
  const parsed = JSON.parse(text) as unknown;
  const objects: Set<unknown>[] = [];
  let last: unknown;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}:]/g)) {
    if (token === '{') objects.push(new Set());
    else if (token === '}') objects.pop();
    else if (token !== ':') last = JSON.parse(token);
    else {
      if (objects.at(-1)?.has(last)) throw new Error(`An object has ${String(last)} twice.`);
      objects.at(-1)?.add(last);
    }
  }
  return parsed;
}
