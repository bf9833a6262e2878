import { missingCryptoOf } from '../../../../../packages/sdk/src/proofs/note';
import { http, revealing } from '../../../api/client';
import type { CallTimeline, Inclusion, Opening, Receipt } from '../../../api/generated/schema';
import {
  growthSince,
  growthStep,
  isKnown,
  keyStep,
  memoryOf,
  type LogMemory,
  parseMemory,
} from '../../../verify/memory';
import { signersOf, type Step, verifyCall } from '../../../verify/verify';

/** Storage key for the log's keys and the newest verified checkpoint. They identify no person. */
const MEMORY = 'payout-proxy.log';

/** Polling of the proof. Records are sealed within a second or two. */
const SEALED_WITHIN = { everyMs: 1_000, times: 10 };

export type MissingFeature = Awaited<ReturnType<typeof missingCryptoOf>>;

export interface Verification {
  missing?: MissingFeature;
  steps: Step[];
  /** Whether the log uses a key that this browser does not know. */
  hasOtherKey: boolean;
}

/**
 * Requests the proofs and checks them in the browser. Valid results are stored for the next comparison.
 * @param tell called with the reason for each wait.
 * @throws ApiProblem, or an Error if the records are not sealed.
 */
export async function verifyHere(
  timeline: CallTimeline,
  revealed: boolean,
  tell: (what: string) => void,
): Promise<Verification> {
  const missing = await missingCryptoOf();
  if (missing) return { missing, steps: [], hasOtherKey: false };
  const memory = readMemory();
  const [keys, proof] = await Promise.all([fetchKeys(), fetchProof(timeline.id, tell)]);
  const signers = await signersOf(proof.checkpoint, [...keys, ...(memory?.keys ?? [])]);
  const openings = revealed ? await fetchOpenings(timeline.id) : undefined;
  const growth = growthSince(memory, signers, proof.checkpoint);
  const answer = growth && (await http.GET('/v1/audit/log/consistency', { params: { query: growth } }));
  const steps = [
    ...(await verifyCall({ timeline, proof, keys, openings })),
    keyStep(memory, signers),
    await growthStep(memory, signers, proof.checkpoint, answer?.data),
  ];
  if (steps.every(({ state }) => state !== 'wrong')) {
    storeMemory(memoryOf(proof.checkpoint, signers, memory));
  }
  return { steps, hasOtherKey: memory !== undefined && !isKnown(memory, signers) };
}

/** Forgets the keys of the log, so that the next key is trusted. */
export function forgetLog(): void {
  localStorage.removeItem(MEMORY);
}

async function fetchOpenings(id: string): Promise<Partial<Record<string, Opening[]>>> {
  const request = { params: { path: { id } }, headers: revealing(true) };
  const { data } = await http.GET('/v1/audit/calls/{id}/receipt', request);
  const { records } = data as Receipt; // Failures throw.
  return Object.fromEntries(records.map(({ kind, openings }) => [kind, openings]));
}

async function fetchKeys(): Promise<string[]> {
  const { data } = await http.GET('/v1/audit/log/key', { parseAs: 'text' });
  return (data ?? '').trim().split('\n');
}

async function fetchProof(call: string, tell: (what: string) => void): Promise<Inclusion> {
  for (let left = SEALED_WITHIN.times; ; left -= 1) {
    const { data } = await http.GET('/v1/audit/log/proof', { params: { query: { call } } });
    const proof = data as Inclusion; // Failures throw.
    if (proof.unsealed.length === 0 || (left === 0 && proof.records.length > 0)) return proof;
    if (left === 0)
      throw new Error(
        'The records of this call are still not sealed. Check that the sealer is running, then try again.',
      );
    tell('The records are not sealed yet. This takes a few seconds. Retrying…');
    await new Promise((resolve) => setTimeout(resolve, SEALED_WITHIN.everyMs));
  }
}

/** Reads the stored memory. A browser may store nothing, so each verification counts as the first one. */
function readMemory(): LogMemory | undefined {
  try {
    return parseMemory(localStorage.getItem(MEMORY));
  } catch {
    return undefined;
  }
}

function storeMemory(memory: LogMemory): void {
  try {
    localStorage.setItem(MEMORY, JSON.stringify(memory));
  } catch {
    // The next verification then counts as the first one.
  }
}
