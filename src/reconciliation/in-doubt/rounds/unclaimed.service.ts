import { Inject, Injectable, Logger } from '@nestjs/common';
import { ofAccount } from '../../../journal/records/accounts';
import { NewEntry, NewSettlement } from '../../../journal/records/records';
import { settle, SettledCall } from '../../../journal/settlement/settlements';
import { CREATING } from '../../../operations/items/effects';
import { ENTRIES } from '../../../operations/lifecycle/settlement';
import { StatusVocabulary } from '../../../operations/lifecycle/statuses';
import { RunningConfig, SETTINGS } from '../../../platform/config/config';
import { overAfterMs } from '../../../platform/config/upstream/upstream-timeouts';
import { PrismaService } from '../../../platform/database/pools/prisma.service';
import { uuidFloor } from '../../../platform/database/uuid';
import { connectForRun } from '../../matching/connection';
import { SentCall, readSentCalls } from '../calls-in-doubt';
import { readListed } from '../listing';
import { ShownIds } from '../shown-ids';
import { Batches } from '../verdict/batches';
import { CompetingCalls, readCompeting } from '../verdict/competing-calls';
import { soleListing } from '../verdict/verdict';
import { Effort } from '../work';
import { PollService } from './poll.service';

/** Maximum number of calls compared with unclaimed transactions, newest first. */
const MOST_CALLS = 10_000;

/** Maximum time between an ID and its record. */
const ID_MARGIN_MS = 3_600_000;

/**
 * Finds the calls that created unclaimed transactions: calls that the upstream rejected but carried out,
 * calls settled as not executed, and payment links, whose answers name no transaction.
 */
@Injectable()
export class UnclaimedService {
  private readonly logger = new Logger('FollowUp');
  private readonly vocabulary: StatusVocabulary;
  /** IDs shown by all readings of an account since the start. A later reading has only new transactions. */
  private readonly shownIds = new Map<string, ShownIds>();

  constructor(
    private readonly prisma: PrismaService,
    private readonly polls: PollService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {
    this.vocabulary = StatusVocabulary.with(this.settings.upstreamStatusWords);
  }

  /**
   * @param account account of the reading.
   * @param unclaimed positions of the unclaimed transactions in the reading.
   * @param since lower limit of the time of record.
   * @returns the number of settled calls.
   */
  async run(
    account: string,
    readId: string,
    unclaimed: bigint[],
    since: Date,
    signal: AbortSignal,
  ): Promise<number> {
    const shownIds = this.shownIds.get(account) ?? new ShownIds();
    this.shownIds.set(account, shownIds);
    await shownIds.add(readId, (statement) => this.prisma.$queryRaw(statement));
    if (unclaimed.length === 0) return 0;
    const effort = new Effort(signal);
    const listed = await readListed(this.prisma, readId, unclaimed, this.vocabulary);
    const batches = await effort.all(Batches.of(listed, shownIds.operations));
    const calls = (await this.calls(account, since, signal)).filter((call) => batches.isRelatedTo(call));
    if (calls.length === 0) return 0;
    const competing = await this.competing(account, calls, batches, since, effort);
    let settled = 0;
    for (const call of calls) {
      const entries = await effort.all(soleListing(call, batches, competing, this.polls.rules, readId));
      if (entries.length > 0 && (await this.settle(call.id, entries, readId))) settled += 1;
    }
    return settled;
  }

  private async calls(account: string, since: Date, signal: AbortSignal): Promise<SentCall[]> {
    const from = uuidFloor(new Date(since.getTime() - ID_MARGIN_MS));
    const found = await this.prisma.$queryRaw<{ id: string }[]>`
      SELECT e.call_id::text AS id FROM indexed_call e
      WHERE e.terms && ${['state:rejected', 'state:not_executed', 'entry:pending']}::text[]
        AND e.call_id >= ${from}::uuid AND e.operation = ANY (${CREATING}::text[])
        AND ${ofAccount('e.client_id', account)}
        AND NOT EXISTS (SELECT FROM outcome_item n WHERE n.intent_id = e.call_id)
      ORDER BY e.call_id DESC LIMIT ${MOST_CALLS}`;
    const ids = found.map(({ id }) => id);
    return readSentCalls(this.prisma, ids, overAfterMs(this.settings), signal);
  }

  private async competing(
    account: string,
    calls: SentCall[],
    batches: Batches,
    since: Date,
    effort: Effort,
  ): Promise<CompetingCalls> {
    const { rules } = this.polls;
    const reach = {
      account,
      from: since,
      longestMs: overAfterMs(this.settings),
      rules,
      signal: effort.signal,
    };
    const db = await connectForRun(this.settings);
    try {
      const ids = calls.map(({ id }) => id);
      const others = await readCompeting(db, this.prisma, ids, batches, reach);
      return await effort.all(CompetingCalls.of(others, rules));
    } finally {
      await db.end().catch(() => undefined);
    }
  }

  private async settle(callId: string, found: NewEntry[], readId: string): Promise<boolean> {
    const settled = await settle(this.prisma, callId, this.settings, (call) => {
      const entries = found.filter(({ position, entry }) => isNews(call, position, entry));
      return entries.length === 0 ? undefined : toSettlement(callId, entries, readId);
    });
    if (settled !== 'written') return false;
    this.logger.warn({ call_id: callId }, 'the upstream lists payouts of a call that it did not confirm');
    return true;
  }
}

/** Returns whether an entry is new to a payout. One with its own transaction is followed by that name. */
function isNews({ outcome, items }: SettledCall, position: number, entry: NewEntry['entry']): boolean {
  const item = items[position];
  return outcome !== null && item?.transaction === null && entry !== 'fee' && ENTRIES[entry].known;
}

function toSettlement(intentId: string, entries: NewEntry[], readId: string): NewSettlement {
  return {
    intentId,
    source: 'poll',
    reason: 'The upstream lists the payouts of this call, and no other call of ours could have made them.',
    entries,
    evidence: { reads: [readId], calls: [] },
  };
}
