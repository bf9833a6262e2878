import { Competing } from './competing';
import { Rules, SentCall, Verdict, SentCallState } from '../calls-in-doubt';
import { Listing } from './batches';
import { judge } from './verdict';
import { Effort } from '../work';

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

/** The input of one poll. */
export class PollRound {
  readonly left = new Set<string>();
  readonly failed = new Set<string>();

  constructor(
    readonly account: string,
    readonly due: SentCallState[],
    /** The ids of all calls in doubt. */
    readonly inDoubt: string[],
    readonly read: Pick<Listing, 'readId' | 'askedAt' | 'oldest'>,
    /** When the oldest call that is due was sent. */
    readonly since: Date,
    readonly effort: Effort,
  ) {}
}
