import { Inject, Injectable, Logger } from '@nestjs/common';
import { Client } from 'pg';
import { MayPay } from '../../gateway/may-pay/may-pay.service';
import { IndexService } from '../../history/search/index.service';
import { NewSettlement } from '../../journal/records/records';
import { LedgerItem } from '../../journal/settlement/ledger';
import { SettledCall } from '../../journal/settlement/settled-call';
import { settleWithin } from '../../journal/settlement/settlements';
import { StatusVocabulary } from '../../operations/lifecycle/statuses';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { settlementOf } from '../book/payout-news';
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
  private readonly vocabulary: StatusVocabulary;

  constructor(
    private readonly prisma: PrismaService,
    private readonly index: IndexService,
    private readonly mayPay: MayPay,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {
    this.vocabulary = StatusVocabulary.with(settings.upstreamStatusWords);
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
    const calls = new Map<string, StatementProof[]>();
    for (const proof of await readProofs(db, plan)) {
      calls.set(proof.callId, [...(calls.get(proof.callId) ?? []), proof]);
    }
    const [read] = await this.prisma.$queryRaw<{ at: Date }[]>`
      SELECT read_at AS at FROM source_read WHERE id = ${plan.readId}::uuid`;
    for (const [callId, proofs] of calls) {
      signal.throwIfAborted();
      this.mayPay.require('settle'); // This worker may have been fenced while it compared.
      if (read) await this.settleCall(callId, proofs, { account: plan.account, importedAt: read.at });
    }
  }

  private async settleCall(
    callId: string,
    proofs: StatementProof[],
    { account, importedAt }: { account: string; importedAt: Date },
  ): Promise<void> {
    let applied: StatementProof[] = [];
    const isSettled = await this.prisma.$transaction(async (tx) => {
      const settled = await settleWithin(tx, callId, this.settings, (call) => {
        applied = proofs.filter(({ position }) => isProvable(call.items[position], importedAt));
        return this.settlementBy(call, applied);
      });
      if (settled === 'written') await enterProofs(tx, account, applied);
      return settled === 'written';
    });
    if (isSettled)
      this.logger.log({ call_id: callId, source: 'statement' }, 'payouts settled by a statement');
  }

  private settlementBy(call: SettledCall, proofs: StatementProof[]): NewSettlement | undefined {
    const context = { source: 'reconciliation', isQuiet: () => false, vocabulary: this.vocabulary } as const;
    const { settlement } = settlementOf(call, proofs, context);
    return settlement && { ...settlement, source: 'reconciliation', reason: REASON };
  }
}

/** What was recorded after the import outweighs the statement. */
function isProvable(item: LedgerItem | undefined, importedAt: Date): boolean {
  const last = item?.postings.findLast(({ entry }) => entry !== 'fee');
  return item !== undefined && PROVABLE.includes(item.entry) && last !== undefined && last.at < importedAt;
}
