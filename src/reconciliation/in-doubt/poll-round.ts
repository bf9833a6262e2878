import { Listing } from './batches';
import { SentCallState } from './read-calls';
import { Effort } from './work';

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
