import canonicalize from 'canonicalize';
import { fromBase64, toBase64, toHex } from '../../../packages/sdk/src/proofs/bytes';
import { leafHash, verifyInclusion } from '../../../packages/sdk/src/proofs/merkle';
import {
  type Checkpoint,
  openNote,
  parseCheckpoint,
  parseNote,
  verifierOf,
} from '../../../packages/sdk/src/proofs/note';
import type { CallTimeline, Inclusion, LeafProof, Opening } from '../api/generated/schema';
import { compareTimeline } from './agreement';
import type { Leaf, Leaves } from './comparison';
import { comparePeople } from './people';

export interface Step {
  title: string;
  /** `open` means that there was nothing to check yet. `explanation` has the reason. */
  state: 'right' | 'wrong' | 'open';
  explanation: string;
  /** Hashes and other evidence, as names and values. */
  details: [what: string, value: string][];
}

/** Answers of the proxy about a call and its records, all of which are checked. */
export interface Evidence {
  timeline: CallTimeline;
  proof: Inclusion;
  /** Verifier keys of the log, newest first. */
  keys: string[];
  /** Committed values, by kind. Undefined if people are masked. */
  openings: Partial<Record<string, Opening[]>> | undefined;
}

/** Returns the steps that need no earlier answers. memory.ts has the others. */
export async function verifyCall(evidence: Evidence): Promise<Step[]> {
  const { proof, timeline } = evidence;
  const computed = await Promise.all(proof.records.map(withHash));
  return [
    leavesStep(timeline.id, proof.id, computed),
    await inclusionStep(proof.checkpoint, computed),
    await signatureStep(proof.checkpoint, evidence.keys),
    pageStep(evidence, computed),
    await peopleStep(evidence),
  ];
}

/** Record with the hash of its leaf, computed here. Null if it was pruned. */
type HashedLeaf = LeafProof & { computed: Uint8Array | null };

async function withHash(proved: LeafProof): Promise<HashedLeaf> {
  const { record } = proved;
  return { ...proved, computed: record && (await leafHash(canonicalize(record) ?? '')) };
}

function leavesStep(id: string, proved: string, records: HashedLeaf[]): Step {
  const faults = records.flatMap(({ kind, record, computed, leaf_hash }) => {
    if (!record || !computed) return []; // Pruned. Its hash remains and is proved below.
    const ofCall = 'intent_id' in record ? record.intent_id : record.id;
    if (record.table !== kind || ofCall !== id) return [`The ${kind} belongs to another record.`];
    return toBase64(computed) === leaf_hash
      ? []
      : [`The ${kind} was changed: its hash differs from its leaf.`];
  });
  if (proved !== id) faults.push('The proof belongs to another call.');
  if (records.length === 0) faults.push('The proxy returned no record of this call.');
  return {
    title: 'Each record matches its sealed hash',
    state: faults.length > 0 ? 'wrong' : 'right',
    explanation:
      faults.join(' ') ||
      `The SHA-256 of the canonical JSON of ${kindsOf(records)} equals the hashes in the log.`,
    details: records.flatMap(({ kind, index, leaf_hash, computed, record }): [string, string][] => [
      [`${kind}, leaf ${index}`, leaf_hash],
      ['computed here', computed ? toBase64(computed) : 'the record was pruned'],
      ...(record ? ([['record', canonicalize(record) ?? '']] as [string, string][]) : []),
    ]),
  };
}

async function inclusionStep(note: string, records: HashedLeaf[]): Promise<Step> {
  const title = 'The log contains the records';
  const at = checkpointOf(note);
  if (at instanceof Error)
    return { title, state: 'wrong', explanation: at.message, details: [['checkpoint', note]] };
  const faults: string[] = [];
  for (const { kind, index, leaf_hash, computed, proof } of records) {
    const hashes = proof.map((hash) => fromBase64(hash) ?? new Uint8Array());
    const claim = { index, size: at.size, leafHash: computed ?? fromBase64(leaf_hash) ?? new Uint8Array() };
    if (!(await verifyInclusion({ ...claim, proof: hashes, root: at.root }))) {
      faults.push(`The ${kind} is not proven: its proof does not lead to the root of the checkpoint.`);
    }
  }
  if (new Set(records.map(({ index }) => index)).size < records.length)
    faults.push('One leaf appears twice.');
  return {
    title,
    state: faults.length > 0 ? 'wrong' : 'right',
    explanation:
      faults.join(' ') || `Their inclusion proofs lead to the root of a log of ${at.size} records.`,
    details: [
      ['root of the tree', toBase64(at.root)],
      ...records.map(({ kind, index, proof }): [string, string] => [
        `path of ${kind}, leaf ${index}`,
        proof.join('\n'),
      ]),
    ],
  };
}

async function signatureStep(note: string, keys: string[]): Promise<Step> {
  const title = "The log's key signed the root";
  const details: Step['details'] = [
    ...keys.map((key): [string, string] => ['key', key]),
    ['checkpoint', note],
  ];
  try {
    const { text, signers } = await openNote(note, ...(await Promise.all(keys.map(verifierOf))));
    const { origin } = parseCheckpoint(text);
    if (signers.some(({ name }) => name !== origin))
      throw new Error(`The checkpoint belongs to another log, ${origin}.`);
    return {
      title,
      state: 'right',
      explanation: `The checkpoint has the Ed25519 signature of ${origin}.`,
      details,
    };
  } catch (error) {
    return { title, state: 'wrong', explanation: (error as Error).message, details };
  }
}

function pageStep({ timeline, proof }: Evidence, records: HashedLeaf[]): Step {
  const away = new Set<string>([
    ...proof.unsealed,
    ...records.filter(({ record }) => record === null).map(({ kind }) => kind),
  ]);
  const all = compareTimeline(timeline, leavesOf(records), away, settlementsIn(records));
  for (const { kind, index, leaf_hash } of timeline.seals) {
    if (kind === 'verdict' || index === null) continue; // A verdict has its own ID, and so its own proof.
    const proved = records.find((record) => record.kind === kind && record.index === index);
    all.plain(
      `leaf of the ${kind}`,
      leaf_hash,
      proved && toHex(fromBase64(proved.leaf_hash) ?? new Uint8Array()),
    );
  }
  const unsealed = proof.unsealed.length > 0 ? ` Not sealed yet: ${proof.unsealed.join(', ')}.` : '';
  const isJudged = timeline.seals.some(({ kind }) => kind === 'verdict');
  const apart = isJudged ? " The proxy's own findings about the doubt have a separate proof." : '';
  return {
    title: 'This page matches the records',
    state: all.faults.length > 0 ? 'wrong' : 'right',
    explanation:
      (all.faults.length > 0
        ? `${all.faults.slice(0, 5).join(' ')} Reload the page. If this remains, the page does not ` +
          'show what was recorded.'
        : `${all.count} values on this page match the records: amounts, times, decisions, and the outcome.`) +
      unsealed +
      apart,
    details: all.faults.map((fault, at) => [`difference ${at + 1}`, fault]),
  };
}

async function peopleStep({ timeline, proof, openings }: Evidence): Promise<Step> {
  const title = 'Recipients and bodies match the commitments in the records';
  if (!openings) {
    const explanation =
      'People are masked on this page. If your key has access, reveal them and verify again to ' +
      'compare each with its salted hash in the record.';
    return { title, state: 'open', explanation, details: [] };
  }
  if (timeline.refusal && !openings.refusal?.length) {
    return {
      title,
      state: 'open',
      explanation: 'A refused request was never sent, and its body is not stored.',
      details: [],
    };
  }
  const all = await comparePeople(timeline, leavesOf(proof.records), openings);
  return {
    title,
    state: all.faults.length > 0 ? 'wrong' : 'right',
    explanation:
      all.faults.join(' ') || 'The SHA-256 of salt and value equals the commitments in the records.',
    details: Object.entries(openings).flatMap(([kind, list = []]) =>
      list.map(({ commitment, salt }): [string, string] => [`salt of ${commitment} (${kind})`, salt]),
    ),
  };
}

/** Returns the keys that signed a note. None if it is invalid, which `verifyCall` explains. */
export async function signersOf(note: string, keys: string[]): Promise<string[]> {
  try {
    const verifiers = await Promise.all([...new Set(keys)].map(verifierOf));
    return (await openNote(note, ...verifiers)).signers.map(({ key }) => key);
  } catch {
    return [];
  }
}

/** Parses a note's text without checking its signatures. */
export function checkpointOf(note: string): Checkpoint | Error {
  try {
    return parseCheckpoint(parseNote(note).text);
  } catch (error) {
    return error as Error;
  }
}

function leavesOf(records: LeafProof[]): Leaves {
  return Object.fromEntries(records.flatMap(({ kind, record }) => (record ? [[kind, record]] : [])));
}

/** Returns the readable settlements, in order. */
function settlementsIn(records: LeafProof[]): Leaf[] {
  const settlements = records.flatMap(({ kind, record }) =>
    record && kind === 'settlement' ? [record] : [],
  );
  return settlements.sort((one, other) => Number(one.number) - Number(other.number));
}

const kindsOf = (records: LeafProof[]) => records.map(({ kind }) => kind).join(', ');
