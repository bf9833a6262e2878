import { Inject, Injectable } from '@nestjs/common';
import { TAGS, termOf } from '../../../journal/lookups/search-terms';
import { ofAccount } from '../../../journal/records/accounts';
import { CHANGED_BY } from '../../../operations/items/effects';
import { ARRIVED, STATES } from '../../../operations/lifecycle/lifecycle';
import { isPlainRejection } from '../../../operations/lifecycle/rejections';
import { StatusVocabulary } from '../../../operations/lifecycle/statuses';
import { RunningConfig, SETTINGS } from '../../../platform/config/config';
import { overAfterMs } from '../../../platform/config/upstream/upstream-timeouts';
import { clock } from '../../../platform/database/clock';
import { PrismaService } from '../../../platform/database/pools/prisma.service';
import { SourcesService } from '../../sources/sources.service';
import { readSentCalls, Rules, Verdict, SentCallState } from '../calls-in-doubt';
import { readSingle } from '../listing';
import { CompetingChange, judgeChange } from '../verdict/change-verdict';
import { evidenceOf, Listing } from '../verdict/facts';
import { CallVerdict, PollRound } from '../verdict/poll-round';

/** Maximum number of single lookups per round. */
const MOST_LOOKUPS = 200;

/** States of calls that were sent, unless they were certainly not executed. */
const POSSIBLE = ARRIVED.filter((state) => STATES[state].executed !== 'no');

/** Failure code of a refused reading, and the statuses with which it means that a transaction is missing. */
const REFUSED = 'rejected';
const NOT_FOUND_STATUSES: readonly (number | null)[] = [200, 404];

/** Judges calls in doubt that delete or redeem a transaction, by looking the transaction up. */
@Injectable()
export class ChangesService {
  private readonly vocabulary: StatusVocabulary;

  constructor(
    private readonly prisma: PrismaService,
    private readonly sources: SourcesService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {
    this.vocabulary = StatusVocabulary.with(this.settings.upstreamStatusWords);
  }

  async judge(round: PollRound, listing: Listing, rules: Rules): Promise<CallVerdict[]> {
    const { due, left } = round;
    const found: CallVerdict[] = [];
    const changing = due.filter(({ operation }) => CHANGED_BY.has(operation));
    for (const { id } of changing.slice(MOST_LOOKUPS)) left.add(id);
    for (const call of changing.slice(0, MOST_LOOKUPS)) {
      const verdict = await this.judgeOne(call, listing, rules, round);
      if (verdict) found.push({ call, verdict });
    }
    return found;
  }

  private async judgeOne(
    call: SentCallState,
    listing: Listing,
    rules: Rules,
    { failed }: PollRound,
  ): Promise<Verdict | undefined> {
    const { upstreamId, competing, ...known } = await this.readNamed(call, call.items[0]?.upstreamRef ?? '');
    const facts = { wasRejected: isPlainRejection(call), competing, listing, rules };
    if (upstreamId === null) return judgeChange(call, { lookup: undefined, ...facts });
    const requestedAt = clock.now();
    const cause = { causedBy: call.id, by: null };
    const read = await this.sources.transaction(call.account, cause, upstreamId);
    const { readId, complete, failure, httpStatus } = read;
    const isGone = failure === REFUSED && NOT_FOUND_STATUSES.includes(httpStatus);
    const transaction = complete ? await readSingle(this.prisma, readId, this.vocabulary) : null;
    if (transaction === undefined || (transaction === null && !isGone)) {
      return void failed.add(call.id); // The next round retries soon.
    }
    return judgeChange(call, { lookup: { readId, requestedAt, transaction, ...known }, ...facts });
  }

  /** Reads our records of the transaction that a call deletes or redeems. Update the search index first. */
  private async readNamed(
    { id: callId, account, sentFrom }: SentCallState,
    upstreamRef: string,
  ): Promise<ChangedTransaction> {
    const rivals = await this.prisma.$queryRaw<{ id: string }[]>`
      SELECT e.call_id::text AS id FROM indexed_call e
      WHERE e.terms @> ${[termOf(TAGS.ref, upstreamRef)]}::text[]
        AND e.operation = ANY (${[...CHANGED_BY.keys()]}::text[]) AND e.state = ANY (${POSSIBLE}::text[])
        AND e.call_id <> ${callId}::uuid AND ${ofAccount('e.client_id', account)}`;
    const [booked] = await this.prisma.$queryRaw<Omit<ChangedTransaction, 'competing'>[]>`
      SELECT b.upstream_id AS "upstreamId", c.operation AS "createdBy", EXISTS (
        SELECT FROM last_entries(c.call_id, c.answer -> 'entries',
          json_array_length(c.request -> 'items'),
          NULL, ${sentFrom}::timestamptz) AS e
        WHERE e.pos = b.position AND e.entry IN ('expired', 'redeemed')) AS "changedBefore"
      FROM book_transaction b LEFT JOIN call_state c ON c.call_id = b.call_id
      WHERE b.id = name_key('ref', ${account}::text, ${upstreamRef}::text)`;
    const competing = await this.competing(rivals.map(({ id }) => id));
    return { upstreamId: null, createdBy: null, changedBefore: false, ...booked, competing };
  }

  private async competing(ids: string[]): Promise<CompetingChange[]> {
    const calls = await readSentCalls(this.prisma, ids, overAfterMs(this.settings));
    const now = clock.nowMs();
    return calls.map((call) => {
      const { id, operation, items, sentFrom, sentUntil, state } = call;
      const isWaiting = state === 'in_progress' && now < sentUntil.getTime();
      const isExecuted = STATES[state].executed === 'yes';
      return {
        id,
        operation,
        items,
        sentFrom,
        wasRejected: isPlainRejection(call),
        state: isExecuted ? 'executed' : isWaiting ? 'in_progress' : 'open',
      };
    });
  }
}

/** Our records of a transaction that a call deletes or redeems. */
interface ChangedTransaction {
  upstreamId: string | null;
  /** The operation that created it. Null if none of ours did. */
  createdBy: string | null;
  /** Whether it was deleted or redeemed before the call was sent. */
  changedBefore: boolean;
  /** Other calls that delete or redeem it. */
  competing: CompetingChange[];
}

/**
 * Returns the verdict about a call that the upstream's data cannot identify.
 * @param settled positions of its payouts whose outcome is known.
 */
export function unrecognisable({
  operation,
  settled,
}: {
  operation: string;
  settled: ReadonlySet<number>;
}): Verdict {
  const evidence = evidenceOf([], [], []);
  if (settled.size > 0) {
    const reason =
      "The upstream's answer is an error, but names the transaction of each payout and its status.";
    return { verdict: 'confirmed', reason, evidence, entries: [] };
  }
  const reason = `The upstream's data does not identify calls of ${operation}. A person must settle it.`;
  return { verdict: 'ambiguous', reason, evidence };
}
