import { fromBase64, toBase64 } from '../../../packages/sdk/src/proofs/bytes';
import { verifyConsistency } from '../../../packages/sdk/src/proofs/merkle';
import type { Consistency } from '../api/generated/schema';
import { checkpointOf, type Step } from './verify';

/** Facts that a browser stores about a log after the first verification: trust on first use. */
export interface LogMemory {
  /** Verifier keys of the log: those that its newest checkpoint announced, or the one that signed it. */
  keys: string[];
  /** Newest checkpoint that was verified here, as a signed note. */
  checkpoint: string;
  /** Time of the verification, ISO 8601. */
  at: string;
}

/** Parses a stored memory. Undefined if it is invalid. */
export function parseMemory(text: string | null): LogMemory | undefined {
  try {
    const { keys, checkpoint, at } = JSON.parse(text ?? 'null') as LogMemory;
    const isSeen = [...keys, checkpoint, at].every((value) => typeof value === 'string');
    return isSeen ? { keys: [...keys], checkpoint, at } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the memory to store after a verification. A checkpoint that names no keys has one signer. Another
 * key is stored only if a checkpoint that a known key signed names it, because anyone can add a signature to
 * a note.
 * @param signers newest first.
 */
export function memoryOf(note: string, signers: string[], memory?: LogMemory): LogMemory {
  const checkpoint = checkpointOf(note);
  const announced = checkpoint instanceof Error ? [] : checkpoint.keys;
  const [signer] = signers.filter((key) => memory === undefined || memory.keys.includes(key));
  const own = signer === undefined ? [] : [signer];
  return { keys: announced.length > 0 ? announced : own, checkpoint: note, at: new Date().toISOString() };
}

/** Returns whether one of the signers is known. */
export function isKnown(memory: LogMemory | undefined, signers: string[]): boolean {
  return memory !== undefined && signers.some((key) => memory.keys.includes(key));
}

/** Returns the request that `growthStep` needs. Undefined if there is nothing to request. */
export function growthSince(
  memory: LogMemory | undefined,
  signers: string[],
  note: string,
): { from: number; to: number } | undefined {
  if (!memory || !isKnown(memory, signers)) return undefined;
  const [before, now] = [checkpointOf(memory.checkpoint), checkpointOf(note)];
  if (before instanceof Error || now instanceof Error || before.size > now.size) return undefined;
  return { from: before.size, to: now.size };
}

export function keyStep(memory: LogMemory | undefined, signers: string[]): Step {
  const title = 'The key is known to this browser';
  const details = signers.map((key): [string, string] => ['key now', key]);
  if (!memory) {
    const explanation =
      'This browser sees the key for the first time and stores it. Compare it with the key that the ' +
      'operator published elsewhere.';
    return { title, state: 'open', explanation, details };
  }
  const isSame = isKnown(memory, signers);
  return {
    title,
    state: isSame ? 'right' : 'wrong',
    explanation: isSame
      ? 'The checkpoint is signed by a key that this browser knows since it first verified a call here.'
      : 'THE KEY HAS CHANGED. Anyone with another key can sign another history. Unless the operator ' +
        'announced a new key to you in another way, do not trust this page. Ask the operator.',
    details: isSame
      ? details
      : [...memory.keys.map((key): [string, string] => ['previously known key', key]), ...details],
  };
}

export async function growthStep(
  memory: LogMemory | undefined,
  signers: string[],
  note: string,
  consistency: Consistency | undefined,
): Promise<Step> {
  const title = 'The log only grew since the last verification in this browser';
  if (!memory || !isKnown(memory, signers)) {
    const explanation = memory
      ? 'Another key means another log, so nothing can be compared.'
      : 'This browser has no earlier checkpoint. It stores this one for the next comparison.';
    return { title, state: 'open', explanation, details: [] };
  }
  const [before, now] = [checkpointOf(memory.checkpoint), checkpointOf(note)];
  const details: Step['details'] = [
    [`checkpoint of ${memory.at}`, memory.checkpoint],
    ['checkpoint now', note],
  ];
  const wrong = (explanation: string): Step => ({ title, state: 'wrong', explanation, details });
  if (before instanceof Error || now instanceof Error) return wrong('A checkpoint cannot be read.');
  if (before.size > now.size) {
    return wrong(
      `The log had ${before.size} records and now has ${now.size}. The newest records were removed.`,
    );
  }
  const proof = (consistency?.proof ?? []).map((hash) => fromBase64(hash) ?? new Uint8Array());
  const claim = { from: before.size, to: now.size, fromRoot: before.root, toRoot: now.root, proof };
  if (!(await verifyConsistency(claim))) {
    return wrong(
      `The log does not extend the log of ${before.size} records that this browser saw. The history ` +
        'was rewritten. Keep both checkpoints (under Details) as proof.',
    );
  }
  details.push(['consistency proof', proof.map(toBase64).join('\n')]);
  const explanation = `The log of ${now.size} records starts with the ${before.size} that this browser knew.`;
  return { title, state: 'right', explanation, details };
}
