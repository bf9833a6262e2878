import { Injectable } from '@nestjs/common';
import { AuthenticatedCall, Author, mayReveal, OperationCall } from '../../access/auth/call';
import { FourEyesService } from '../../access/auth/four-eyes';
import { reachesWholeAccount } from '../../access/auth/owner';
import { StepUpService } from '../../access/auth/step-up';
import { readRequester } from '../../access/people/same-person';
import { EpochService } from '../../continuity/fence/epoch.service';
import { ProcessService } from '../../continuity/fence/process.service';
import { LoadShedderService } from '../../gateway/admission-control/load-shedder.service';
import { Permit } from '../../gateway/admission-control/permit';
import { ExchangeService } from '../../gateway/forwarding/exchange.service';
import { OwnershipService } from '../../gateway/forwarding/ownership/ownership.service';
import { PreparedRequest } from '../../gateway/forwarding/prepared-request';
import { MayPay } from '../../gateway/may-pay/may-pay.service';
import { obstacleProblem } from '../../gateway/may-pay/obstacle-problem';
import { ScreeningService } from '../../gateway/screening/screening.service';
import { UpstreamService } from '../../gateway/upstream/upstream.service';
import { readBrokenRule } from '../../gateway/waiting/broken-rule';
import { readRequesters } from '../../gateway/waiting/requesters';
import {
  namedTransaction,
  ownerOfWaiting,
  requireUnchanged,
  toPrepared,
} from '../../gateway/waiting/waiting-call';
import { FullCallRecord } from '../../history/records/record.dto';
import { RecordsService } from '../../history/records/records.service';
import { FullStoredCall } from '../../history/records/rows';
import { SearchService } from '../../history/search/search.service';
import { MetricsService } from '../../http/metrics/metrics.service';
import { LocalCopies } from '../../journal/copies/local-copies';
import { approveHeldCall, NewDecision, rejectHeldCall } from '../../journal/decisions/decisions';
import { Screened, Release } from '../../journal/records/records';
import { operationNamed } from '../../operations/catalogue/catalogue';
import { readFeeRule } from '../../operations/items/fees';
import { Item } from '../../operations/items/item';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { isUuid } from '../../platform/database/uuid';
import { Problem } from '../../platform/errors/problem';
import { ApprovalPage, ApprovalSearch, DecisionDto, FullApprovalRecord } from './approvals.dto';
import { decisionFailed, ForecastService, notPending } from './forecast.service';
import { heldCallOf } from './held-call';

const OTHER_HASH =
  'The content_hash of this call differs from the one you sent. Nothing was decided. Read the call again, ' +
  'then decide.';

/** Record of a held call. */
type HeldRecord = FullStoredCall;

/** Lists held calls, and records decisions about them. */
@Injectable()
export class ApprovalsService {
  constructor(
    private readonly prisma: PrismaService,
    private readonly process: ProcessService,
    private readonly searching: SearchService,
    private readonly records: RecordsService,
    private readonly shedder: LoadShedderService,
    private readonly exchanges: ExchangeService,
    private readonly ownership: OwnershipService,
    private readonly screening: ScreeningService,
    private readonly upstream: UpstreamService,
    private readonly metrics: MetricsService,
    private readonly forecasts: ForecastService,
    private readonly mayPay: MayPay,
    private readonly copies: LocalCopies,
    private readonly epoch: EpochService,
    private readonly stepUp: StepUpService,
    private readonly fourEyes: FourEyesService,
  ) {}

  async list(call: AuthenticatedCall, search: ApprovalSearch): Promise<ApprovalPage> {
    const { status = 'pending', ...page } = search;
    const { rows, nextPageToken } = await this.searching.search({ approval: status, ...page });
    const ids = rows.map(({ id }) => id);
    const calls = await this.records.list(ids, mayReveal(call));
    return { approvals: await this.forecasts.forecast(calls), next_page_token: nextPageToken };
  }

  async one(call: AuthenticatedCall, id: string): Promise<FullApprovalRecord> {
    const [approval] = await this.forecasts.forecast([await this.record(id, mayReveal(call))]);
    return approval as FullApprovalRecord; // every held call has an approval
  }

  /** Approves the call, sends it once, and returns it with its recorded outcome. */
  async approve(call: AuthenticatedCall, id: string, decision: DecisionDto): Promise<FullApprovalRecord> {
    this.mayPay.require('send', {}, 'approver');
    const { by, held } = await this.undecided(call, id, decision.content_hash);
    this.stepUp.requireOver(call, held.intent.total_usd);
    requireUnchanged(held);
    const prepared = toPrepared(held);
    const { outgoing } = prepared;
    const account = this.upstream.of(outgoing.account);
    const { client_id: clientId, operation } = held.intent;
    const requester = { account: outgoing.account, clientId };
    const permit = await this.shedder.enterFor(call, requester, operationNamed(operation), {
      bytes: outgoing.body?.length ?? 0,
      reader: 'approver',
    });
    try {
      await this.mayPay.requireSending(clientId, { account, outgoing }, 'approver');
      const newDecision = this.decision(held, decision.reason, by);
      return await this.approveAndSend(call, { held, prepared, permit }, newDecision);
    } finally {
      permit.release();
      account.giveUp(outgoing);
    }
  }

  private async approveAndSend(
    call: AuthenticatedCall,
    { held, prepared, permit }: { held: HeldRecord; prepared: PreparedRequest; permit: Permit },
    decision: NewDecision,
  ): Promise<FullApprovalRecord> {
    const { id } = held.intent;
    const { items } = prepared;
    const isOwn = await this.isOwn(call, held);
    const screening = await this.screenAgain(held, items);
    const heldCall = heldCallOf(held, items);
    const { operation } = heldCall;
    this.mayPay.require('send', {}, 'approver'); // again, because other services were queried meanwhile
    const result = await approveHeldCall(this.prisma, { ...decision, screening }, heldCall, (tx) =>
      readBrokenRule(tx, id, operation, isOwn),
    ).catch(decisionFailed);
    if (result.kind === 'decided') throw await this.tooLate(id);
    if (result.kind !== 'released') throw obstacleProblem(result, 'approver', { operation });
    this.epoch.remember('approved', id);
    this.copies.addApproval(id, result.reservedOn);
    permit.endAdmission(false);
    return this.send(call, held, prepared, { release: result.release, permit });
  }

  /**
   * Screens the payment again, because lists change while a call waits. The approver's decision counts as the
   * review.
   * @returns the verdict, for the record of the decision. Null without screening.
   */
  private async screenAgain({ intent }: HeldRecord, items: Item[]): Promise<Screened | null> {
    if (!this.screening.isEnabled) return null;
    const caller = (await readRequesters(this.prisma, [intent.id])).get(intent.id);
    if (!caller) return null; // the approval is refused
    const subject = { id: intent.id, caller, operation: operationNamed(intent.operation) };
    try {
      return await this.screening.check(subject, items);
    } catch (refusal) {
      if (!(refusal instanceof Problem)) throw refusal;
      const kind = refusal.code === 'screening_denied' ? refusal.code : 'screening_unavailable';
      throw obstacleProblem({ kind }, 'approver');
    }
  }

  /**
   * Rechecks whether the requester owns the named transaction. Skipped for a requester who reaches the whole
   * account. If that right is revoked concurrently, the approval is refused, and the next one checks.
   */
  private async isOwn(call: AuthenticatedCall, held: HeldRecord): Promise<boolean> {
    const transaction = namedTransaction(held);
    if (transaction === undefined) return true;
    const { id } = held.intent;
    const requester = (await readRequesters(this.prisma, [id])).get(id);
    if (!requester || reachesWholeAccount(requester)) return false;
    return this.ownership.owns(call, ownerOfWaiting(held), transaction, 'approver');
  }

  /** Rejects a call. A fenced instance rejects nothing: its old database may show a sent call as pending. */
  async reject(call: AuthenticatedCall, id: string, decision: DecisionDto): Promise<FullApprovalRecord> {
    const { reason, content_hash: hash } = decision;
    this.mayPay.require('settle', {}, 'approver');
    const { by, held } = await this.undecided(call, id, hash);
    if (!(await rejectHeldCall(this.prisma, this.decision(held, reason, by)))) throw await this.tooLate(id);
    return this.one(call, id);
  }

  private decision({ intent }: HeldRecord, reason: string, by: Author): NewDecision {
    const { id: intentId, body_commitment: bodyCommitment = null } = intent;
    return { intentId, reason, bodyCommitment, screening: null, by, process: this.process.number };
  }

  /** Reads a held call, and checks the caller early. The decision checks again. */
  private async undecided(
    call: AuthenticatedCall,
    id: string,
    hash: string | undefined,
  ): Promise<{ by: Author; held: HeldRecord }> {
    const { approval } = await this.record(id, false);
    const held = await this.records.readStored(id);
    if (!held) throw new Problem('approval_not_found');
    const by = await this.fourEyes.require(call, await readRequester(this.prisma, held.intent));
    if (approval?.status !== 'pending') throw notPending(approval?.status);
    if (hash !== undefined && hash !== approval.content_hash)
      throw new Problem('content_changed', { text: OTHER_HASH });
    return { by, held };
  }

  /** Returns the error for a decided or expired call. */
  private async tooLate(id: string): Promise<Problem> {
    return notPending((await this.record(id, false)).approval?.status);
  }

  private async record(id: string, reveal: boolean): Promise<FullCallRecord> {
    const record = isUuid(id) && (await this.records.readCall(id, reveal));
    if (!record || !record.approval) throw new Problem('approval_not_found');
    return record;
  }

  /** Sends an approved call. Money can move from here on, so no error may claim that nothing was sent. */
  private async send(
    approving: AuthenticatedCall,
    held: HeldRecord,
    prepared: PreparedRequest,
    { release, permit }: { release: Release; permit: Permit },
  ): Promise<FullApprovalRecord> {
    const { id, operation, traceparent, expected_fee: fee } = held.intent;
    const call: OperationCall = {
      ...approving,
      id,
      operation: operationNamed(operation),
      traceparent,
      connection: undefined, // the approver's, not the caller's
      sendBy: Infinity, // no caller waits
      opened: true,
      timings: {},
      feeRule: fee === undefined ? null : (readFeeRule(fee) ?? null),
    };
    try {
      await this.exchanges.send(call, prepared, release, permit);
      return await this.one(approving, call.id);
    } catch (cause) {
      const text =
        'The call was approved and sent, but its outcome could not be recorded or read. It is not sent ' +
        `again. Read GET /v1/approvals/${call.id} for its outcome.`;
      throw new Problem('outcome_unknown', { text, cause });
    } finally {
      this.metrics.count(call);
    }
  }
}
