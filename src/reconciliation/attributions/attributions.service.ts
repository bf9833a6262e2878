import { Inject, Injectable } from '@nestjs/common';
import { Author } from '../../access/auth/call';
import { ChangeAuthor, ChangeRecords } from '../../access/clients/changes';
import { DualControlService } from '../../access/dual-control/dual-control.service';
import {
  AttributionDocument,
  ChangeRequester,
  recordedAttribution,
  TransactionAttributions,
} from '../../access/dual-control/payout-changes';
import { RequestedChange } from '../../access/dual-control/pending-changes';
import { MayPay } from '../../gateway/may-pay/may-pay.service';
import { IndexService } from '../../history/search/index.service';
import { SettledCall } from '../../journal/settlement/settled-call';
import { settleWithin } from '../../journal/settlement/settlements';
import { StatusVocabulary } from '../../operations/lifecycle/statuses';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { Fault, Problem } from '../../platform/errors/problem';
import { AttributionFacts, AttributionRequest, readFacts } from './attribution-facts';
import { faultsOf } from './attribution-faults';
import { moveTransaction, settlementOf } from './attribution-settlement';
import { BookTransactionRecord } from './attributions.dto';
import { BookFilter, readTransactions } from './book-transactions';

/** A reason for the settlement, with its author. */
type SettlementAuthor = Author & { reason: string };

/**
 * Attributes transactions of the book to payouts by hand. With dual control, an attribution waits for a
 * second person. See rule `person` of docs/internals/attribution.md.
 */
@Injectable()
export class AttributionsService implements TransactionAttributions {
  private readonly vocabulary: StatusVocabulary;

  constructor(
    private readonly prisma: PrismaService,
    private readonly reader: ReaderPrisma,
    private readonly index: IndexService,
    private readonly records: ChangeRecords,
    private readonly dualControl: DualControlService,
    private readonly mayPay: MayPay,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {
    this.vocabulary = StatusVocabulary.with(settings.upstreamStatusWords);
  }

  /** Returns transactions of the book. See {@link readTransactions}. */
  async find(filter: BookFilter): Promise<BookTransactionRecord[]> {
    await this.index.catchUp(); // It enters the answers.
    return readTransactions(this.reader, filter);
  }

  /**
   * Attributes a transaction to a payout, or requests it from a second person.
   * @returns the pending change. Undefined if the transaction was attributed.
   * @throws Problem
   */
  async attribute(
    request: AttributionRequest,
    by: SettlementAuthor,
    author: ChangeAuthor,
  ): Promise<RequestedChange | undefined> {
    this.requireSettler();
    await this.index.catchUp();
    const attribution = await this.prisma.$transaction(async (tx) => {
      const judged = await this.judge(tx, request);
      if (!this.dualControl.isOn) await this.apply(tx, judged, by, author);
      return judged.attribution;
    });
    if (!this.dualControl.isOn) return undefined;
    const change = { permissions: {}, attribution };
    const pending = { kind: 'attribute_transaction', client: null, before: null, change } as const;
    return this.dualControl.request({ ...pending, expands: ['payouts'] }, author);
  }

  async attributeIn(
    tx: Prisma.TransactionClient,
    attribution: AttributionDocument,
    by: ChangeRequester,
    approved: ChangeAuthor,
  ): Promise<boolean> {
    this.requireSettler();
    await this.index.catchUp();
    const { call_id: callId, position, transaction_id: transactionId, own_id: ownId, owner } = attribution;
    const payout = { callId, position };
    const supersedes = [
      ...(ownId === null ? [] : [payout]),
      ...(owner ? [{ callId: owner.call_id, position: owner.position }] : []),
    ];
    const judged = await this.judge(tx, { ...payout, transactionId, supersedes }).catch((error: unknown) => {
      if (error instanceof Problem) return undefined;
      throw error;
    });
    if (!judged || judged.attribution.own_id !== ownId) return false;
    await this.apply(tx, judged, by, approved);
    return true;
  }

  /**
   * Compares a transaction with a payout, and locks both.
   * @throws Problem `transaction_not_found`, or `attribution_contradicted` with every reason.
   */
  private async judge(tx: Prisma.TransactionClient, request: AttributionRequest): Promise<Judgement> {
    const facts = await readFacts(tx, request);
    if (!facts) throw new Problem('transaction_not_found');
    let faults: Fault[] = [];
    let amountUsd: string | null = null;
    await settleWithin(tx, request.callId, this.settings, (call) => {
      faults = faultsOf(facts, call, request);
      amountUsd = call.items[request.position]?.amountUsd?.toFixed() ?? null;
      return undefined;
    });
    if (faults.length > 0) throw new Problem('attribution_contradicted', { faults });
    return { facts, request, attribution: toDocument(facts, request, amountUsd) };
  }

  /** @throws Problem `resolution_superseded` if another settlement comes first. */
  private async apply(
    tx: Prisma.TransactionClient,
    { facts, request, attribution }: Judgement,
    by: SettlementAuthor,
    author: ChangeAuthor,
  ): Promise<void> {
    const decide = (call: SettledCall) =>
      settlementOf(call, facts, request, { by, vocabulary: this.vocabulary });
    const settled = await settleWithin(tx, request.callId, this.settings, decide);
    if (settled !== 'written') throw new Problem('resolution_superseded');
    await moveTransaction(tx, facts, request, this.settings);
    const after = recordedAttribution(attribution);
    const act = { action: 'transaction_attributed', client: null, keyId: null, before: null, after } as const;
    await this.records.record(tx, [act], author);
  }

  /** A wrong attribution may free an amount. An old database or a wrong clock decides nothing. */
  private requireSettler(): void {
    this.mayPay.require('settle', {}, 'settler');
  }
}

/** An attribution without a contradiction. */
interface Judgement {
  facts: AttributionFacts;
  request: AttributionRequest;
  attribution: AttributionDocument;
}

function toDocument(
  { id, own, owner, upstreamRef, upstreamId, status, amount }: AttributionFacts,
  { callId, position }: AttributionRequest,
  amountUsd: string | null,
): AttributionDocument {
  return {
    call_id: callId,
    position,
    transaction_id: id,
    own_id: own?.id ?? null,
    owner: owner && { call_id: owner.callId, position: owner.position },
    upstream_ref: upstreamRef,
    upstream_id: upstreamId,
    status,
    amount_usd: amountUsd,
    listed_usd: amount,
  };
}
