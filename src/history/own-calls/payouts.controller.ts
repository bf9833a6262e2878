import { Controller, Get, Param } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/route-access';
import { AuthenticatedCall, CurrentCall } from '../../access/auth/call';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { ApiSummary } from '../../platform/schema/routes';
import { TAGS, termOf } from '../../journal/terms';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { termsOf } from '../search/filters';
import { IndexService } from '../search/index.service';
import { ledgerEntriesOf } from '../records/items';
import { maskProse } from '../records/masking';
import { PayoutPlace, payoutIdOf, readPayoutId } from '../../operations/payout-id';
import { OwnView, ownView } from '../../access/auth/owner';
import { PayoutRecord } from './own-calls.dto';
import { RecordsService } from '../records/records.service';
import { shown } from '../records/view';

/** Apps read here what became of each of their payouts. */
@ApiTags('Payouts')
@Controller('v1/payouts')
export class PayoutStatesController {
  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly index: IndexService,
    private readonly records: RecordsService,
  ) {}

  @Get(':id')
  @Allow('pay', 'write', 'read')
  @ApiSummary(
    'Read what became of a payout',
    'Finds only your own payouts. People are masked without `read`. The state follows the settlement ledger, so it ' +
      'changes if the upstream fails, reverses or refunds a payout later.',
  )
  @ApiParam({
    name: 'id',
    schema: { type: 'string' },
    description:
      "The `payout_id` of an item (`<call ID>.<position>`), the ID of a call with one payout, or the upstream's reference of its transaction.",
  })
  @ApiResponse({ status: 200, type: PayoutRecord, description: 'The payout.' })
  @ApiKeyProblems('payout_not_found')
  async readPayout(@CurrentCall() call: AuthenticatedCall, @Param('id') id: string): Promise<PayoutRecord> {
    const payout = await this.one(id, ownView(call));
    if (!payout) throw new Problem('payout_not_found');
    return payout;
  }

  /**
   * Reads a payout of a key's own calls.
   * @param id its ID, the ID of a call with one payout, or the upstream's reference of its transaction.
   */
  private async one(id: string, view: OwnView): Promise<PayoutRecord | undefined> {
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
