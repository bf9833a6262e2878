import { Verdict, SentCall, SentCallState } from '../calls-in-doubt';
import { Listing } from './facts';

export interface CallVerdict {
  call: SentCall;
  verdict: Verdict;
}

/** The input of one poll, and the calls that it leaves. */
export interface PollRound {
  account: string;
  due: SentCallState[];
  read: Pick<Listing, 'readId' | 'requestedAt' | 'oldest'>;
  /** Sending time of the oldest call that is due. */
  since: Date;
  signal: AbortSignal;
  /** IDs of calls that did not fit into the round. */
  left: Set<string>;
  /** IDs of calls whose lookup failed. */
  failed: Set<string>;
}
