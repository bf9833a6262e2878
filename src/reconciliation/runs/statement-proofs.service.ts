import { Inject, Injectable, Logger } from '@nestjs/common';
import { Client } from 'pg';
import { MayPay } from '../../gateway/may-pay/may-pay.service';
import { IndexService } from '../../history/search/index.service';
import { LedgerItem } from '../../journal/settlement/ledger';
import { PAYOUTS_AT_ONCE, settleAllWithin } from '../../journal/settlement/settlements';
import { StatusVocabulary } from '../../operations/lifecycle/statuses';
import { batchesOf } from '../../platform/batches';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { byCall } from '../book/news-settlement';
import { NewsContext, settlementOf } from '../book/payout-news';
import { Plan } from '../book/plan';
import { enterProofs, PROVABLE, readProofs, StatementProof } from './statement-proofs';

const REASON = 'A statement of the provider has the transaction of this payout.';

/**
 * Settles payouts by an imported statement, if `RECONCILIATION_STATEMENTS_SETTLE` is set. A statement is the
 * claim of its importer, so it settles only payouts that were paid, and gives no amount back.
 */
@Injectable()
export class StatementProofsService {
  private readonly logger = new Logger('Book');
  private readonly context: NewsContext;

  constructor(
    private readonly prisma: PrismaService,
    private readonly index: IndexService,
    private readonly mayPay: MayPay,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {
    const vocabulary = StatusVocabulary.with(settings.upstreamStatusWords);
    this.context = { source: 'reconciliation', isQuiet: () => false, vocabulary };
  }

  /** Whether statements settle payouts. */
  get isOn(): boolean {
    return this.settings.reconciliation.statementsSettle;
  }

  /**
   * Settles payouts by the certain matches of a run over a statement.
   * @param db the connection of the run, with its matches.
   * @throws the signal's reason if it is aborted, and Problem if this worker must not settle.
   */
  async settle(db: Client, plan: Plan, signal: AbortSignal): Promise<void> {
    await this.index.catchUp(); // It enters the answers, which outweigh a statement.
    const calls = byCall(await readProofs(db, plan));
    const [read] = await this.prisma.$queryRaw<{ at: Date }[]>`
      SELECT read_at AS at FROM source_read WHERE id = ${plan.readId}::uuid`;
    if (!read) return;
    for (const batch of batchesOf(calls, PAYOUTS_AT_ONCE, ([, { length }]) => length)) {
      signal.throwIfAborted();
      this.mayPay.require('settle'); // This worker may have been fenced while it compared.
      const settled = await this.settleCalls(new Map(batch), { account: plan.account, importedAt: read.at });
      for (const id of settled)
        this.logger.log({ call_id: id, source: 'statement' }, 'payouts settled by a statement');
    }
  }

  /** @returns the IDs of the settled calls. */
  private settleCalls(
    calls: ReadonlyMap<string, StatementProof[]>,
    { account, importedAt }: { account: string; importedAt: Date },
  ): Promise<string[]> {
    return this.prisma.$transaction(async (tx) => {
      const applied: StatementProof[] = [];
      const results = await settleAllWithin(tx, [...calls.keys()], this.settings, (call) => {
        const all = calls.get(call.intent.id) ?? [];
        const proofs = all.filter(({ position }) => isProvable(call.items[position], importedAt));
        applied.push(...proofs);
        const { settlement } = settlementOf(call, proofs, this.context);
        return settlement && { ...settlement, source: 'reconciliation', reason: REASON };
      });
      const settled = [...results.keys()].filter((id) => results.get(id) === 'written');
      const entering = applied.filter(({ callId }) => settled.includes(callId));
      await enterProofs(tx, account, entering);
      return settled;
    });
  }
}

/** What was recorded after the import outweighs the statement. */
function isProvable(item: LedgerItem | undefined, importedAt: Date): boolean {
  const last = item?.postings.findLast(({ entry }) => entry !== 'fee');
  return item !== undefined && PROVABLE.includes(item.entry) && last !== undefined && last.at < importedAt;
}
