import { Inject, Injectable } from '@nestjs/common';
import { CHANGED_BY, CREATED_BY } from '../../operations/effects';
import { StatusVocabulary } from '../../operations/statuses';
import { clock } from '../../platform/database/clock';
import { PrismaService } from '../../platform/database/prisma.service';
import { SourcesService } from '../sources/sources.service';
import { Listing } from './batches';
import { Lookup, Rules, Verdict } from './calls-in-doubt';
import { judgeChange } from './changed';
import { Resolved } from './judging';
import { readOne } from './listing';
import { PollRound } from './poll-round';
import { SentCallState } from './read-calls';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { CallState, STATES } from '../../operations/lifecycle';
import { ofAccount } from '../../journal/accounts';
import { TAGS, termOf } from '../../journal/terms';

/** The most transactions that are requested one by one in a round. */
const MOST_LOOKUPS = 200;

/** The failure of a reading that the upstream refused. For a single transaction, it means that there is none. */
const REFUSED = 'rejected';
const SAYS_NOT_FOUND: readonly (number | null)[] = [200, 404];

/** Judges calls in doubt that delete or redeem a transaction, by asking the upstream for it. */
@Injectable()
export class ChangesService {
  private readonly vocabulary: StatusVocabulary;

  constructor(
    private readonly prisma: PrismaService,
    private readonly sources: SourcesService,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    this.vocabulary = StatusVocabulary.with(settings.upstreamStatusWords);
  }

  async judge(round: PollRound, listing: Listing, rules: Rules): Promise<Resolved[]> {
    const { due, left } = round;
    const found: Resolved[] = [];
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
    const upstreamRef = call.items[0]?.upstreamRef ?? null;
    const named = upstreamRef === null ? null : await readNamed(this.prisma, call, upstreamRef);
    if (!named || named.upstreamId === null) return judgeChange(call, undefined, listing, [], rules);
    const askedAt = clock.now();
    const cause = { causedBy: call.id, by: null };
    const read = await this.sources.transaction(call.account, cause, named.upstreamId);
    const { readId, complete, failure, httpStatus } = read;
    const isGone = failure === REFUSED && SAYS_NOT_FOUND.includes(httpStatus);
    const isRead = complete || isGone;
    const seen = isGone ? null : isRead ? await readOne(this.prisma, readId, this.vocabulary) : undefined;
    if (seen === undefined) return void failed.add(call.id); // It is asked again soon.
    const lookup: Lookup = { readId, askedAt, seen, madeBy: named.madeBy };
    return judgeChange(call, lookup, listing, named.others, rules);
  }
}

/** Our knowledge of a transaction that a call deletes or redeems. */
interface Named {
  upstreamId: string | null;
  /** The operation that created it. Null if none of ours did. */
  madeBy: string | null;
  /** Other calls that delete or redeem it. */
  others: string[];
}

/**
 * Reads our knowledge of the transaction that a call to an account deletes or redeems. The search index must be up to
 * date.
 */
async function readNamed(
  prisma: PrismaService,
  { id: callId, account }: Pick<SentCallState, 'id' | 'account'>,
  upstreamRef: string,
): Promise<Named> {
  const rows = await prisma.$queryRaw<{ id: string; state: CallState; operation: string; upstreamId: string | null }[]>`
    SELECT e.call_id::text AS id, e.state, e.operation,
      (SELECT o.upstream_id FROM outcome_item o WHERE o.intent_id = e.call_id AND o.upstream_ref = ${upstreamRef} LIMIT 1) AS "upstreamId"
    FROM indexed_call e WHERE e.terms @> ${[termOf(TAGS.ref, upstreamRef)]}::text[] AND e.call_id <> ${callId}::uuid
      AND ${ofAccount('e.client_id', account)}`;
  const changes = rows.filter(({ operation, state }) => CHANGED_BY.has(operation) && STATES[state].arrived);
  const makers = rows.filter(({ operation, upstreamId }) => CREATED_BY.has(operation) && upstreamId !== null);
  return {
    upstreamId: rows.find(({ upstreamId }) => upstreamId !== null)?.upstreamId ?? null,
    madeBy: makers[0]?.operation ?? null,
    others: changes.map(({ id }) => id),
  };
}
