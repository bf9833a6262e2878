import { Competing } from './competing';
import { Rules, SentCall, Verdict } from './calls-in-doubt';
import { Listing } from './batches';
import { judge } from './verdict';
import { Effort } from './work';

export interface Resolved {
  call: SentCall;
  verdict: Verdict;
}

/**
 * Judges calls that create transactions, one after the other, until the effort of one round is spent. It judges at
 * least one, so that every call gets its turn.
 * @returns the conclusions, and the calls that are left for another round.
 */
export async function judgeInTurn(
  calls: SentCall[],
  listing: Listing,
  competing: Competing,
  rules: Rules,
  effort: Effort,
): Promise<{ found: Resolved[]; left: SentCall[] }> {
  const found: Resolved[] = [];
  effort.begin();
  for (const [place, call] of calls.entries()) {
    if (place > 0 && effort.isSpent) return { found, left: calls.slice(place) };
    const verdict = await effort.all(judge(call, listing, competing, rules));
    if (verdict) found.push({ call, verdict });
  }
  return { found, left: [] };
}
