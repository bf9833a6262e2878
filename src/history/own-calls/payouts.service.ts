import { Injectable } from '@nestjs/common';
import { TAGS, termOf } from '../../journal/terms';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { termsOf } from '../search/filters';
import { IndexService } from '../search/index.service';
import { ledgerEntriesOf } from '../records/ledger-entries';
import { maskProse } from '../records/masking';
import { PayoutPlace, payoutIdOf, readPayoutId } from '../../operations/payout-id';
import { OwnView } from '../../access/auth/owner';
import { PayoutRecord } from './payout.dto';
import { RecordsService } from '../records/records.service';
import { shown } from '../records/view';

/** Reads what became of single payouts. */
@Injectable()
export class PayoutsService {
  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly index: IndexService,
    private readonly records: RecordsService,
  ) {}

  /**
   * Reads a payout of a key's own calls.
   * @param id its ID, the ID of a call with one payout, or the upstream's reference of its transaction.
   */
  async one(id: string, view: OwnView): Promise<PayoutRecord | undefined> {
    const place = readPayoutId(id);
    const found = place && (await this.at(place, view, id.includes('.')));
    return found ?? (id.includes('.') ? undefined : this.named(id, view));
  }

  /** @param isExact whether the ID names a position. A call with several payouts needs one. */
  private async at(
    { callId, position }: PayoutPlace,
    { owner, reveal }: OwnView,
    isExact: boolean,
  ): Promise<PayoutRecord | undefined> {
    const found = await this.records.find(callId, reveal, owner);
    const item = found?.record.items[position];
    const payout = found?.stored?.payouts[position];
    if (!found?.stored || !item || !payout || (!isExact && found.record.item_count > 1)) return undefined;
    const { id: call_id, operation, outcome } = found.record;
    return {
      id: payoutIdOf(call_id, position),
      call_id,
      operation,
      outcome,
      position,
      state: item.state,
      next: item.next,
      amount_usd: item.amount_usd,
      fee_usd: item.fee_usd,
      reason: shown(payout.reason, reveal, maskProse),
      item,
      ledger: ledgerEntriesOf(found.stored, payout, reveal),
    };
  }

  /** Finds the payout by the upstream's reference. */
  private async named(upstreamRef: string, view: OwnView): Promise<PayoutRecord | undefined> {
    await this.index.catchUp();
    const rows = await this.prisma.$queryRaw<{ id: string }[]>`
      SELECT call_id::text AS id FROM indexed_call
      WHERE terms @> ${[termOf(TAGS.ref, upstreamRef), ...termsOf(view.owner)]}::text[] ORDER BY call_id LIMIT 10`;
    for (const { id } of rows) {
      const found = await this.records.find(id, view.reveal, view.owner);
      const payout = found?.stored?.payouts.find(({ transaction }) => transaction?.upstream_ref === upstreamRef);
      if (payout) return this.at({ callId: id, position: payout.position }, view, true);
    }
    return undefined;
  }
}
