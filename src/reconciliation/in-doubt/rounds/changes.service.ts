import { Inject, Injectable } from '@nestjs/common';
import { TAGS, termOf } from '../../../journal/lookups/search-terms';
import { ofAccount } from '../../../journal/records/accounts';
import { Change } from '../../../operations/catalogue/row';
import { CHANGED_BY, CREATED_BY } from '../../../operations/items/effects';
import { CallState, STATES } from '../../../operations/lifecycle/lifecycle';
import { StatusVocabulary, plainWord } from '../../../operations/lifecycle/statuses';
import { RunningConfig, SETTINGS } from '../../../platform/config/config';
import { clock } from '../../../platform/database/clock';
import { PrismaService } from '../../../platform/database/pools/prisma.service';
import { SourcesService } from '../../sources/sources.service';
import { Lookup, Rules, Verdict, ListedTransaction, SentCall, SentCallState } from '../calls-in-doubt';
import { readSingle } from '../listing';
import { evidenceOf, isListedSince, Listing, quietUntil } from '../verdict/facts';
import { CallVerdict, PollRound } from '../verdict/poll-round';

/** Maximum number of single lookups per round. */
const MOST_LOOKUPS = 200;

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
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    this.vocabulary = StatusVocabulary.with(settings.upstreamStatusWords);
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
    const upstreamRef = call.items[0]?.upstreamRef ?? null;
    const named = upstreamRef === null ? null : await readNamed(this.prisma, call, upstreamRef);
    if (!named || named.upstreamId === null) return judgeChange(call, undefined, listing, [], rules);
    const requestedAt = clock.now();
    const cause = { causedBy: call.id, by: null };
    const read = await this.sources.transaction(call.account, cause, named.upstreamId);
    const { readId, complete, failure, httpStatus } = read;
    const isGone = failure === REFUSED && NOT_FOUND_STATUSES.includes(httpStatus);
    const isRead = complete || isGone;
    const transaction = isGone
      ? null
      : isRead
        ? await readSingle(this.prisma, readId, this.vocabulary)
        : undefined;
    if (transaction === undefined) return void failed.add(call.id); // The next round retries soon.
    const lookup: Lookup = { readId, requestedAt, transaction, createdBy: named.createdBy };
    return judgeChange(call, lookup, listing, named.others, rules);
  }
}

/** Our records of a transaction that a call deletes or redeems. */
interface ChangedTransaction {
  upstreamId: string | null;
  /** The operation that created it. Null if none of ours did. */
  createdBy: string | null;
  /** Other calls that delete or redeem it. */
  others: string[];
}

/** A call that names a transaction. */
interface NamingCall {
  id: string;
  state: CallState;
  operation: string;
  upstreamId: string | null;
}

/** Reads our records of the transaction that a call deletes or redeems. Update the search index first. */
async function readNamed(
  prisma: PrismaService,
  { id: callId, account }: Pick<SentCallState, 'id' | 'account'>,
  upstreamRef: string,
): Promise<ChangedTransaction> {
  const rows = await prisma.$queryRaw<NamingCall[]>`
    SELECT e.call_id::text AS id, e.state, e.operation,
      (SELECT o.upstream_id FROM outcome_item o
        WHERE o.intent_id = e.call_id AND o.upstream_ref = ${upstreamRef} LIMIT 1) AS "upstreamId"
    FROM indexed_call e
    WHERE e.terms @> ${[termOf(TAGS.ref, upstreamRef)]}::text[]
      AND e.call_id <> ${callId}::uuid AND ${ofAccount('e.client_id', account)}`;
  const changes = rows.filter(({ operation, state }) => CHANGED_BY.has(operation) && STATES[state].arrived);
  const makers = rows.filter(({ operation, upstreamId }) => CREATED_BY.has(operation) && upstreamId !== null);
  return {
    upstreamId: rows.find(({ upstreamId }) => upstreamId !== null)?.upstreamId ?? null,
    createdBy: makers[0]?.operation ?? null,
    others: changes.map(({ id }) => id),
  };
}

/** Statuses of a transaction that was not redeemed. Others, such as `completed`, can mean that it was. */
const NOT_REDEEMED: readonly string[] = ['unpaid', 'paid', 'successful', 'success'];

/** Whether the status of a transaction shows that it was not deleted or redeemed. */
const UNTOUCHED: Record<Change, (listed: ListedTransaction) => boolean> = {
  deleted: ({ meaning }) => meaning === 'paid' || meaning === 'redeemed' || meaning === 'unpaid',
  redeemed: ({ status }) => status !== null && NOT_REDEEMED.includes(plainWord(status)),
};

/**
 * Judges a call in doubt that deletes or redeems a transaction.
 * @param lookup undefined if our records do not know the transaction's ID.
 * @param others our other calls that should have made the same change.
 * @returns undefined while more information may arrive.
 */
export function judgeChange(
  call: SentCall,
  lookup: Lookup | undefined,
  listing: Listing,
  others: string[],
  rules: Rules,
): Verdict | undefined {
  const change = CHANGED_BY.get(call.operation);
  if (!change) return undefined;
  const evidence = evidenceOf(
    lookup ? [listing.readId, lookup.readId] : [],
    lookup?.transaction ? [lookup.transaction] : [],
    others,
  );
  if (!lookup) {
    return ambiguous(
      'Our records do not contain the transaction that this call names, so the proxy cannot look it up.',
    );
  }
  const { transaction, requestedAt, createdBy } = lookup;
  if (transaction === null && change === 'deleted' && others.length === 0 && listing.missing === 0) {
    const reason =
      'The upstream no longer has the transaction that this call deletes, and no other call of ours ' +
      'deletes it.';
    return { verdict: 'confirmed', reason, evidence };
  }
  if (requestedAt.getTime() < quietUntil(call, rules)) return undefined;
  return afterQuiet();

  function afterQuiet(): Verdict {
    // The listing shows how recent the data is, by other transactions of this kind.
    const kind = createdBy === null ? undefined : CREATED_BY.get(createdBy)?.name;
    const isFresh = kind !== undefined && isListedSince(listing, quietUntil(call, rules), kind);
    if (transaction !== null && UNTOUCHED[change as Change](transaction)) {
      if (!isFresh && !call.isRejected)
        return ambiguous(
          "The upstream's data may be older than this call. It lists no later call of the same kind yet.",
        );
      const reason = `The transaction that this call names was not ${change} at the end of the quiet period.`;
      return { verdict: 'not_executed', reason, evidence };
    }
    if (others.length > 0)
      return ambiguous('Another call of ours may have made this change. "calls" lists it.');
    return ambiguous("The upstream's data about the transaction does not show whether this call changed it.");
  }

  function ambiguous(reason: string): Verdict {
    return { verdict: 'ambiguous', reason, evidence };
  }
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
