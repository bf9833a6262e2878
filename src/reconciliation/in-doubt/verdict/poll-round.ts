import { Verdict, SentCall, SentCallState } from '../calls-in-doubt';
import { Listing } from './facts';

export interface CallVerdict {
  call: SentCall;
  verdict: Verdict;
}

/** The input of one poll. */
export class PollRound {
  readonly left = new Set<string>();
  readonly failed = new Set<string>();

  constructor(
    readonly account: string,
    readonly due: SentCallState[],
    readonly read: Pick<Listing, 'readId' | 'requestedAt' | 'oldest'>,
    /** Sending time of the oldest call that is due. */
    readonly since: Date,
    readonly signal: AbortSignal,
  ) {}
}
