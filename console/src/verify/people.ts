import canonicalize from 'canonicalize';
import { type Bytes, fromBase64, fromHex, sha256, toHex, utf8 } from '../../../packages/sdk/src/proofs/bytes';
import type { CallTimeline, Opening } from '../api/generated/schema';
import { Comparison, type Leaf, type Leaves } from './comparison';

/** Exact length of a salt in bytes. Otherwise the start of a value could pass as the end of its salt. */
const SALT_BYTES = 16;

const KEY = 'idempotency_key_commitment';
const ACTOR = 'actor_commitment';
const RECIPIENTS = 'recipients_commitment';

/** An object of the list that `recipients_commitment` commits to. */
interface CommittedRecipient {
  position: number;
}

/**
 * Compares shown people and bodies with the commitments in the records: SHA-256(salt || value).
 * @param openings salts and values, by the kind of the record that commits to them.
 */
export async function comparePeople(
  timeline: CallTimeline,
  leaves: Leaves,
  openings: Partial<Record<string, Opening[]>>,
): Promise<Comparison> {
  const all = new Comparison();
  const opened = new Map<string, Bytes>();
  let recipients: CommittedRecipient[] = [];
  for (const [kind, list = []] of Object.entries(openings)) {
    for (const { commitment, salt, value, encoding } of list) {
      const bytes = { base64: fromBase64, utf8 }[encoding]?.(value);
      const proved = { ...leaves[kind], recipients };
      const holds = await isOpened(committedIn(proved, commitment), salt, bytes);
      if (holds && commitment === RECIPIENTS) recipients = JSON.parse(value) as CommittedRecipient[];
      all.holds(holds, `${inWords(commitment)} (${kind})`, 'another value', 'the value of its commitment');
      if (holds && bytes) opened.set(`${kind}/${commitment}`, bytes);
    }
  }
  const places = new Map(recipients.map(({ position }, place) => [position, place]));
  for (const { position, recipient } of timeline.items) {
    for (const contact of ['email', 'phone', 'handle'] as const) {
      const path = `intent/recipients/${places.get(position)}/${contact}_commitment`;
      const recorded = textOf(opened.get(path));
      all.plain(`${contact} of item ${position + 1}`, recipient[contact], recorded);
    }
  }
  const kind = timeline.refusal ? 'refusal' : 'intent';
  if (committedIn(leaves[kind], KEY) !== undefined)
    all.plain('idempotency key', timeline.idempotency_key, textOf(opened.get(`${kind}/${KEY}`)));
  if (committedIn(leaves[kind], ACTOR) !== undefined)
    all.plain('requester', timeline.actor, textOf(opened.get(`${kind}/${ACTOR}`)));
  compareBody(all, 'the request', timeline.request?.body, opened.get('intent/body_commitment'));
  compareBody(all, 'the response', timeline.response?.body, opened.get('outcome/body_commitment'));
  return all;
}

/** Returns the commitment at a path, such as `recipients/0/email_commitment`. Undefined if there is none. */
function committedIn(leaf: Leaf | undefined, path: string): string | undefined {
  if (!path.endsWith('_commitment')) return undefined;
  let at: unknown = leaf;
  for (const name of path.split('/')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Leaf)[name];
  }
  return typeof at === 'string' ? at : undefined;
}

async function isOpened(
  commitment: string | undefined,
  salt: string,
  value: Bytes | undefined,
): Promise<boolean> {
  const salted = fromHex(salt);
  if (commitment === undefined || value === undefined || salted?.length !== SALT_BYTES) return false;
  return toHex(await sha256(salted, value)) === commitment;
}

/** Compares a body. JSON can be written in several forms. Erased bodies are not shown. */
function compareBody(all: Comparison, what: string, shown: unknown, bytes: Bytes | undefined): void {
  const recorded = textOf(bytes);
  const isBody = recorded === shown || isJsonOf(recorded, shown);
  all.holds(isBody, `the body of ${what}`, shown, recorded);
}

function isJsonOf(text: string | null, shown: unknown): boolean {
  if (text === null) return (shown ?? null) === null;
  try {
    return canonicalize(JSON.parse(text)) === canonicalize(shown);
  } catch {
    return false;
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const textOf = (bytes: Bytes | undefined) => (bytes ? decoder.decode(bytes) : null);
const inWords = (commitment: string) => commitment.replace(/_commitment$/, '').replaceAll('/', ' ');
