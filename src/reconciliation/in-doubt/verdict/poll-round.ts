import { Rules, SentCall, Verdict, SentCallState } from '../calls-in-doubt';
import { Effort } from '../work';
import { Listing } from './batches';
import { CompetingCalls } from './competing-calls';
import { judge } from './verdict';

export interface CallVerdict {
  call: SentCall;
  verdict: Verdict;
}

/**
 * Judges calls that create transactions, one by one, until the effort of one round is spent. It judges at
 * least one, because every call must get its turn.
 * @returns the conclusions, and the calls left for another round.
 */
export async function judgeInTurn(
  calls: SentCall[],
  listing: Listing,
  competing: CompetingCalls,
  rules: Rules,
  effort: Effort,
): Promise<{ found: CallVerdict[]; left: SentCall[] }> {
  const found: CallVerdict[] = [];
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
    /** IDs of all calls in doubt. */
    readonly inDoubt: string[],
    readonly read: Pick<Listing, 'readId' | 'requestedAt' | 'oldest'>,
    /** Sending time of the oldest call that is due. */
    readonly since: Date,
    readonly effort: Effort,
  ) {}
}
