import { http, revealing } from '../../../api/client';
import type { CallStory, Inclusion, Opening, Receipt } from '../../../api/generated/schema';
import {
  growthSince,
  growthStep,
  isKnown,
  keyStep,
  memoryOf,
  type Seen,
  seenIn,
} from '../../../verify/memory';
import { lackingOf } from '../../../../../packages/sdk/src/proofs/note';
import { signersOf, type Step, verifyCall } from '../../../verify/verify';

/**
 * The storage key, in this browser, for the log's keys and the newest checkpoint that was verified here. They name
 * nobody.
 */
const MEMORY = 'payout-proxy.log';

/** Records are sealed within a second or two. */
const SEALED_WITHIN = { everyMs: 1_000, times: 10 };

export type Lacking = Awaited<ReturnType<typeof lackingOf>>;

export interface Verification {
  lacking?: Lacking;
  steps: Step[];
  /** Whether the log has another key than this browser knows. */
  hasOtherKey: boolean;
}

/**
 * Requests the proofs and checks them here. Valid results are stored, to be compared the next time.
 * @param tell is called with the reason of each wait.
 * @throws ApiProblem, or an Error if the records are not sealed.
 */
export async function verifyHere(
  story: CallStory,
  revealed: boolean,
  tell: (what: string) => void,
): Promise<Verification> {
  const lacking = await lackingOf();
  if (lacking) return { lacking, steps: [], hasOtherKey: false };
  const seen = remembered();
  const [keys, proof] = await Promise.all([askKeys(), askProof(story.id, tell)]);
  const signers = await signersOf(proof.checkpoint, [...keys, ...(seen?.keys ?? [])]);
  const openings = revealed ? await askOpenings(story.id) : undefined;
  const growth = growthSince(seen, signers, proof.checkpoint);
  const asked = growth && (await http.GET('/v1/audit/log/consistency', { params: { query: growth } }));
  const steps = [
    ...(await verifyCall({ story, proof, keys, openings })),
    keyStep(seen, signers),
    await growthStep(seen, signers, proof.checkpoint, asked?.data),
  ];
  if (steps.every(({ state }) => state !== 'wrong')) {
    remember(memoryOf(proof.checkpoint, signers, seen));
  }
  return { steps, hasOtherKey: seen !== undefined && !isKnown(seen, signers) };
}

/** Forgets the log, so that its next key is trusted. */
export function forgetLog(): void {
  localStorage.removeItem(MEMORY);
}

async function askOpenings(id: string): Promise<Partial<Record<string, Opening[]>>> {
  const asked = { params: { path: { id } }, headers: revealing(true) };
  const { data } = await http.GET('/v1/audit/calls/{id}/receipt', asked);
  const { records } = data as Receipt; // Failures were thrown before.
  return Object.fromEntries(records.map(({ kind, openings }) => [kind, openings]));
}

async function askKeys(): Promise<string[]> {
  const { data } = await http.GET('/v1/audit/log/key', { parseAs: 'text' });
  return (data ?? '').trim().split('\n');
}

async function askProof(call: string, tell: (what: string) => void): Promise<Inclusion> {
  for (let left = SEALED_WITHIN.times; ; left -= 1) {
    const { data } = await http.GET('/v1/audit/log/proof', { params: { query: { call } } });
    const proof = data as Inclusion; // Failures were thrown before.
    if (proof.unsealed.length === 0 || (left === 0 && proof.records.length > 0)) return proof;
    if (left === 0)
      throw new Error(
        'The records of this call are still not sealed. Check that the sealer is running, then try again.',
      );
    tell('The records are not sealed yet. This takes a few seconds. Retrying…');
    await new Promise((resolve) => setTimeout(resolve, SEALED_WITHIN.everyMs));
  }
}

/** A browser may store nothing. Then each verification is the first. */
function remembered(): Seen | undefined {
  try {
    return seenIn(localStorage.getItem(MEMORY));
  } catch {
    return undefined;
  }
}

function remember(seen: Seen): void {
  try {
    localStorage.setItem(MEMORY, JSON.stringify(seen));
  } catch {
    // The next verification is then the first again, and says so.
  }
}
