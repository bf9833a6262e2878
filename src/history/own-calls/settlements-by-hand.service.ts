import { Inject, Injectable } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { Author } from '../../access/auth/call';
import { ChangeAuthor } from '../../access/clients/changes';
import { DualControlService } from '../../access/dual-control/dual-control.service';
import {
  ChangeRequester,
  PayoutSettlements,
  SettlementDocument,
} from '../../access/dual-control/payout-changes';
import { RequestedChange } from '../../access/dual-control/pending-changes';
import { MayPay } from '../../gateway/may-pay/may-pay.service';
import { SettledCall } from '../../journal/settlement/settled-call';
import { settle, settleWithin } from '../../journal/settlement/settlements';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { Problem } from '../../platform/errors/problem';
import { ResolutionDto } from './own-calls.dto';
import { givenBackBy, settlementByHand } from './settlement-by-hand';
import { VerdictByHand } from './verdicts';

/**
 * Settles payouts by hand. With dual control, a settlement that gives an amount or a key back waits for a
 * second person, because the client may pay more then.
 */
@Injectable()
export class SettlementsByHandService implements PayoutSettlements {
  constructor(
    private readonly prisma: PrismaService,
    private readonly dualControl: DualControlService,
    private readonly mayPay: MayPay,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  /**
   * Settles payouts of a call, or requests it from a second person.
   * @returns the pending change. Undefined if the payouts were settled.
   * @throws Problem
   */
  async settle(
    callId: string,
    request: ResolutionDto,
    by: Author,
    author: ChangeAuthor,
  ): Promise<RequestedChange | undefined> {
    this.requireSettler();
    let obstacle = new Problem('resolution_superseded');
    let waiting: SettlementDocument | undefined;
    // If another settlement comes first, the next attempt reports it.
    const settled = await settle(this.prisma, callId, this.settings, (call) => {
      waiting = undefined;
      const decided = settlementByHand(call, request, by);
      if (decided instanceof Problem) {
        obstacle = decided;
        return undefined;
      }
      const amountUsd = this.dualControl.isOn ? givenBackBy(decided, call) : undefined;
      if (amountUsd === undefined) return decided;
      waiting = toDocument(call, request, amountUsd);
      return undefined;
    });
    if (waiting) return this.request(waiting, author);
    if (settled !== 'written') throw obstacle;
    return undefined;
  }

  async settleIn(
    tx: Prisma.TransactionClient,
    { call_id: callId, version, outcome, ...request }: SettlementDocument,
    { reason, ...by }: ChangeRequester,
  ): Promise<boolean> {
    this.requireSettler();
    const settled = await settleWithin(tx, callId, this.settings, (call) => {
      if (call.version !== version) return undefined;
      const decided = settlementByHand(call, { ...request, outcome: outcome as VerdictByHand, reason }, by);
      return decided instanceof Problem ? undefined : decided;
    });
    return settled === 'written';
  }

  /** A payout settled as not executed may be paid again. An old database or a wrong clock is too early. */
  private requireSettler(): void {
    this.mayPay.require('settle', {}, 'settler');
  }

  private request(settlement: SettlementDocument, author: ChangeAuthor): Promise<RequestedChange> {
    const change = { permissions: {}, settlement };
    const pending = { kind: 'settle_payouts', client: null, before: null, change } as const;
    return this.dualControl.request({ ...pending, expands: ['payouts'] }, author);
  }
}

function toDocument(
  { intent, version }: SettledCall,
  { outcome, payouts, supersedes }: ResolutionDto,
  amountUsd: Decimal,
): SettlementDocument {
  return {
    call_id: intent.id,
    outcome,
    ...(payouts && { payouts }),
    ...(supersedes !== undefined && { supersedes }),
    version,
    amount_usd: amountUsd.toFixed(),
  };
}
