#!/usr/bin/env node
// Checks a receipt of payout-proxy offline, in one file without other code. Sources: RFC 6962 (hashes), 9162
// (proofs), 8785 (canonical JSON), c2sp.org/signed-note, and c2sp.org/tlog-checkpoint.
import { Buffer } from 'node:buffer';
import { createPublicKey, hash, verify } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs, TextDecoder } from 'node:util';

const FORMAT = 'payout-proxy/receipt/1';
const HASH_BYTES = 32;
/** Exact length of a salt in bytes. Otherwise the start of a value could pass as the end of its salt. */
const SALT_BYTES = 16;
/** Fields of a record in the printed result. --json prints all. */
const SHOWN = 'operation kind outcome upstream_status total_usd recorded_at decided_at resolved_at';
const OPTIONS = { key: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } };
const HELP = `Usage: node verify-receipt.mjs [--key KEY] [--json] FILE

Checks a receipt of payout-proxy (GET /v1/calls/{id}/receipt) offline: the log has signed the checkpoint,
each record is in the signed tree, all records are of one call, and the opened values match their commitments.

  FILE        the receipt; - reads it from standard input
  --key KEY   a verifier key of the log, <name>+<id>+<base64>, or a file with one such key per line, one of
              which must have signed. Get it from another source. Without it, the author is unknown.
  --json      print the result as JSON: {"holds", "fault" or the proof, "warning"}

Exit code: 0 the receipt holds (also without --key), 1 it does not, 2 an unreadable file or wrong options.
Example: node verify-receipt.mjs --key log.pub receipt.json
`;
const LIMITS = `This does not prove that the call has no other records, that the records are true, or that the
log shows everyone the same history: compare its checkpoint with a witness's copy.
The log is tamper-evident, not tamper-proof.`;
const WARNING = `Nothing shows who made this receipt. Its key is its own claim, and anyone can sign with their
own key. Give the key that you have from the log's operator or a witness with --key.`;

/** The first fault of a receipt, as a sentence. */
export class Fault extends Error {}
function must(holds, otherwise) {
  if (!holds) throw new Fault(otherwise);
}

/** Returns the proven facts, or throws a Fault. Without `pinned` keys, it uses the receipt's own. */
export function verifyReceipt(text, pinned = []) {
  const receipt = parse(text);
  must(receipt?.format === FORMAT, `This is not a receipt of the format ${FORMAT}.`);
  const { call_id: callId, log, checkpoint, records: entries } = receipt;
  must(isFilled(callId), 'The receipt does not name its call: call_id is missing.');
  must(isFilled(log?.origin) && isFilled(log.key), 'The receipt does not name its log, by origin and key.');
  must(isFilled(checkpoint), 'The receipt has no checkpoint.');
  must(Array.isArray(entries) && entries.length > 0, 'The receipt has no records, so it proves nothing.');
  const { signed, signers } = openNote(checkpoint, [log.key, ...pinned]);
  must(signers.includes(log.key), `The checkpoint is not signed by the log's key ${shown(log.key)}.`);
  const key = pinned.length > 0 ? pinned.find((one) => signers.includes(one)) : log.key;
  must(key, `None of the given keys signed the receipt. It names another key of the log: ${shown(log.key)}.`);
  const { origin, size, root } = parseCheckpoint(signed);
  const isOwnLog = origin === log.origin && key.startsWith(`${origin}+`);
  must(isOwnLog, `The checkpoint is of another log: ${shown(origin)}.`);
  const records = entries.map((entry, at) => verifyRecord(entry, `records[${at}]`, callId, size, root));
  const leaves = new Set(records.map(({ index }) => index));
  must(leaves.size === records.length, 'The receipt has the same leaf twice.');
  const warning = pinned.length > 0 ? undefined : WARNING;
  return { warning, call_id: callId, log: { origin, size, key }, records };
}

function verifyRecord(entry, place, callId, size, root) {
  const { kind, index, record, proof, openings = [] } = entry ?? {};
  must(isFilled(kind), `${place} has no kind.`);
  const where = `${place} (${shown(kind)})`;
  must(isObject(record), `${where} has no record.`);
  must(record.table === kind, `${where} has another kind than its record in the log.`);
  const ofCall = Object.hasOwn(record, 'intent_id') ? record.intent_id : record.id;
  must(ofCall === callId, `${where} is a record of another call than ${shown(callId)}.`);
  const isIndex = Number.isSafeInteger(index) && index >= 0 && index < size;
  must(isIndex, `${where} claims a leaf that the log does not have.`);
  const path = Array.isArray(proof) ? proof.map(decodeBase64) : [undefined];
  const areHashes = path.every((hash) => hash?.length === HASH_BYTES);
  must(areHashes, `${where} has a proof that is not a list of hashes.`);
  const leaf = sha256('\0', canonical(record));
  const isThere = isIncluded(leaf, index, size, path, root);
  must(isThere, `${where} is not proved: the record, its index, its proof or the checkpoint was changed.`);
  must(Array.isArray(openings), `${where} has openings that are not a list.`);
  const proved = { ...record, recipients: undefined };
  const opened = openings.map((opening, at) => verifyOpening(opening, proved, `${where}, openings[${at}]`));
  return { kind, index, leaf_hash: leaf.toString('base64'), opened, record };
}

/** Returns the path of the opened commitment. `proved` gets the recipients once their list is opened. */
function verifyOpening(opening, proved, where) {
  const { commitment, salt, value, encoding = 'utf8' } = opening ?? {};
  must(isFilled(commitment), `${where} does not name its commitment.`);
  const isPath = commitment.endsWith('_commitment');
  const named = isPath ? commitment.split('/').reduce((at, name) => at?.[name], proved) : undefined;
  const isCommitment = typeof named === 'string' && /^[0-9a-f]{64}$/.test(named);
  must(isCommitment, `${where} opens ${shown(commitment)}, which is no commitment of the record.`);
  const isSalt = typeof salt === 'string' && /^([0-9a-f]{2})+$/.test(salt) && salt.length === 2 * SALT_BYTES;
  must(isSalt, `${where} has a salt that is not ${SALT_BYTES} bytes in hex.`);
  const isText = encoding === 'utf8' && typeof value === 'string' && value.isWellFormed();
  const bytes = isText ? Buffer.from(value) : encoding === 'base64' ? decodeBase64(value) : undefined;
  must(bytes, `${where} has no value that can be read.`);
  const isValue = sha256(Buffer.from(salt, 'hex'), bytes).toString('hex') === named;
  must(isValue, `${where} shows another value than the record commits to in ${shown(commitment)}.`);
  if (commitment === 'recipients_commitment') proved.recipients = parse(value);
  return commitment;
}

/** Verifies an inclusion proof (RFC 9162, section 2.1.3.2). Bit operators would cut numbers to 32 bits. */
function isIncluded(leaf, index, size, proof, root) {
  let [node, last, hash] = [index, size - 1, leaf];
  for (const sibling of proof) {
    if (last === 0) return false;
    const isRight = node % 2 === 1 || node === last;
    hash = isRight ? sha256('\x01', sibling, hash) : sha256('\x01', hash, sibling);
    while (isRight && node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)];
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  }
  return last === 0 && hash.equals(root);
}

/** Returns the text of the note and its signers among the keys. Signatures by other keys are ignored. */
function openNote(note, keys) {
  const end = note.lastIndexOf('\n\n') + 1;
  const isNote = end > 0 && note.endsWith('\n') && !/[^\n\u0020-\u{10ffff}]|\p{Surrogate}/u.test(note);
  must(isNote, 'The checkpoint is not a signed note.');
  const lines = note.slice(end + 1, -1).split('\n');
  const parts = lines.map((line) => /^\u2014 ([^ ]+) ([^ ]+)$/.exec(line) ?? []);
  const signatures = parts.map(([, by, signature]) => ({ by, bytes: decodeBase64(signature) }));
  must(!signatures.some(({ bytes }) => !bytes), 'The checkpoint has a line that is no signature.');
  const signed = note.slice(0, end);
  return { signed, signers: keys.filter((key) => hasSigned(key, signed, signatures)) };
}

function hasSigned(verifierKey, text, signatures) {
  const [, name, id, base64] = /^([^+\s]+)\+([0-9a-f]{8})\+(.+)$/s.exec(verifierKey) ?? [];
  const key = decodeBase64(base64);
  const isKey =
    key?.length === 1 + HASH_BYTES && key[0] === 1 && sha256(`${name}\n`, key).toString('hex', 0, 4) === id;
  must(isKey, `The key ${shown(verifierKey)} is not a verifier key of type Ed25519, or damaged.`);
  const own = signatures.filter(({ by, bytes }) => by === name && bytes.toString('hex', 0, 4) === id);
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.toString('base64url', 1) };
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
  const isSigned = own.every(({ bytes }) => verify(null, Buffer.from(text), publicKey, bytes.subarray(4)));
  must(isSigned, "The checkpoint's signature does not fit its text: one of them was changed.");
  return own.length > 0;
}

function parseCheckpoint(text) {
  const [origin, size, hash, ...more] = text.split('\n');
  const root = decodeBase64(hash);
  const isSize = /^(0|[1-9]\d*)$/.test(size) && Number.isSafeInteger(Number(size));
  const isCheckpoint = origin !== '' && isSize && root?.length === HASH_BYTES && more.at(-1) === '';
  must(isCheckpoint, 'The signed text is no checkpoint: it must have lines of origin, size and root hash.');
  return { origin, size: Number(size), root };
}

/** Writes canonical JSON (RFC 8785). JavaScript writes numbers and strings, and orders texts, as required. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map((one) => canonical(one)).join(',')}]`;
  const member = (name) => `${canonical(name)}:${canonical(value[name])}`;
  if (isObject(value)) return `{${Object.keys(value).sort().map(member).join(',')}}`;
  must(typeof value !== 'string' || value.isWellFormed(), 'A record has a text with half a character.');
  return JSON.stringify(value);
}

/** Returns the JSON unless an object has a name twice, because readers disagree about which value counts. */
function parse(text) {
  const [receipt, objects] = [JSON.parse(text), []];
  let last;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}:]/g)) {
    if (token === '{') objects.push(new Set());
    else if (token === '}') objects.pop();
    else if (token !== ':') last = JSON.parse(token);
    else {
      must(!objects.at(-1).has(last), `The receipt has ${shown(last)} twice in one object.`);
      objects.at(-1).add(last);
    }
  }
  return receipt;
}

const isFilled = (value) => typeof value === 'string' && value !== '';
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const sha256 = (...parts) => hash('sha256', Buffer.concat(parts.map((part) => Buffer.from(part))), 'buffer');

/** Decodes base64 in its canonical spelling only (RFC 4648). */
function decodeBase64(text) {
  const bytes = Buffer.from(String(text), 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

/** Removes characters that move the cursor or turn text, so that a receipt cannot write its own result. */
function shown(value) {
  const text = typeof value === 'string' ? value : String(JSON.stringify(value));
  const escaped = (character) => `\\u{${character.codePointAt(0).toString(16)}}`;
  const plain = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, escaped);
  return plain.length > 200 ? `${plain.slice(0, 200)}…` : plain;
}

function sentences({ holds, fault, warning, call_id: callId, log, records }) {
  if (!holds) return `The receipt does NOT hold. ${fault}\n`;
  const lines = records.flatMap(({ kind, index, opened, record }) => [
    `- ${shown(kind)}, leaf ${index}: ${facts(record)}`,
    ...opened.map((path) => `    opened, and as committed to: ${shown(path.replace(/_commitment$/, ''))}`),
  ]);
  const start = warning ? 'The receipt agrees with itself. By its own word, the' : 'The receipt holds. The';
  return `${start} log signed that these, of call ${shown(callId)}, are among its first ${log.size} records:
${lines.join('\n')}
Log: ${shown(log.origin)}. Key: ${shown(log.key)}.

${LIMITS}
${warning ? `\nWARNING: ${warning}\n` : ''}`;
}

function facts(record) {
  const known = SHOWN.split(' ').filter((name) => ['string', 'number'].includes(typeof record[name]));
  return known.map((name) => `${name} ${shown(record[name])}`).join(', ') || 'nothing to sum up';
}

function resultOf(bytes, keys) {
  try {
    return { holds: true, ...verifyReceipt(new TextDecoder('utf-8', { fatal: true }).decode(bytes), keys) };
  } catch (error) {
    const fault = error instanceof Fault ? error.message : 'It is no JSON that could be checked.';
    return { holds: false, fault };
  }
}

function keysOf(key) {
  const text = /^[^+\s]+\+[0-9a-f]{8}\+\S+$/.test(key) ? key : readFileSync(key, 'utf8');
  if (!/\S/.test(text)) throw new Error(`there is no key in ${key}`);
  return text.match(/\S+/g);
}

function main() {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
  if (values.help) return void process.stdout.write(HELP);
  if (positionals.length !== 1) throw new Error('name one receipt, or - for standard input');
  const keys = values.key === undefined ? [] : keysOf(values.key);
  const result = resultOf(readFileSync(positionals[0] === '-' ? 0 : positionals[0]), keys);
  process.stdout.write(values.json ? `${JSON.stringify(result)}\n` : sentences(result));
  process.exitCode = result.holds ? 0 : 1;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    main();
  } catch (error) {
    process.stderr.write(`verify-receipt: ${error.message}\nTry --help.\n`);
    process.exitCode = 2;
  }
}
