import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { onBehalfOf, sourceProblem } from '../../access/auth/authenticate';
import { remainingMs, OperationCall } from '../../access/auth/call';
import { CredentialRecheckService } from '../../access/auth/credential-recheck.service';
import { operationProblem } from '../../access/auth/route-access';
import { endOf, hasEnded } from '../../access/callers/caller';
import { PersonsService } from '../../access/people/persons.service';
import { readAllowDuplicateOf, readIdempotencyKey } from '../../http/validation/idempotency-key';
import { Admission, AdmissionResult } from '../../journal/admission/admission-rules';
import { CallJournal } from '../../journal/call-journal';
import { Coverage, Screened, Release } from '../../journal/records/records';
import { Item, phonesOf } from '../../operations/items/item';
import { databaseUnavailable, Problem } from '../../platform/errors/problem';
import { measured, Permit } from '../admission-control/permit';
import { MayPay } from '../may-pay/may-pay.service';
import { refusalOf } from '../may-pay/obstacle-problem';
import { ScreeningService } from '../screening/screening.service';
import { OutgoingRequest } from '../upstream/transport/outgoing';
import { UpstreamService } from '../upstream/upstream.service';
import { admissionRequest } from './admission-request';
import { CoverageService } from './coverage/coverage.service';
import { MovedValueService } from './ownership/moved-value.service';
import { ownLimitProblems } from './ownership/own-limits';
import { OwnershipService } from './ownership/ownership.service';
import { newIntent, PreparedRequest } from './prepared-request';
import { mayQueue, QueueService } from './queue.service';
import { ReplayService } from './reply/replay.service';
import { pendingReply, queuedReply, Reply } from './reply/reply';

/** The results of checks of the request alone. */
interface OwnChecks {
  /** The items, including amounts that the body omits. */
  items: Item[];
  coverage: Coverage | null;
  screening: Screened | null;
  /** The rejection. Undefined if the request breaks no rule. */
  problem?: Problem;
}

/** Wait of a concurrent repetition for the first answer, in ms. After it, the app must retry. */
const CONCURRENT_DUPLICATE_WAIT_MS = 1_000;
const CONCURRENT_DUPLICATE_POLL_MS = 50;

/** Decides whether a request that pays or creates something may be sent, and records the decision. */
@Injectable()
export class AdmissionService {
  constructor(
    private readonly coverage: CoverageService,
    private readonly screening: ScreeningService,
    private readonly ownership: OwnershipService,
    private readonly values: MovedValueService,
    private readonly journal: CallJournal,
    private readonly replays: ReplayService,
    private readonly rechecks: CredentialRecheckService,
    private readonly persons: PersonsService,
    private readonly mayPay: MayPay,
    private readonly upstream: UpstreamService,
    private readonly queue: QueueService,
  ) {}

  /**
   * Admits a request.
   * @param input the validated body.
   * @param permit its permit. The admission ends its wait for the database.
   * @returns the app's response if nothing is sent now, else the release of the call to send.
   * @throws Problem if it may not be sent.
   */
  async admit(
    call: OperationCall,
    prepared: PreparedRequest,
    input: object | undefined,
    permit: Permit,
  ): Promise<Reply | Release> {
    this.mayPay.require('replay'); // the decision checks all other needs of a new request
    for (;;) {
      const { rights } = call.caller;
      try {
        const admitted = await this.admitOnce(call, prepared, input, permit);
        if (admitted !== 'caller_changed') return admitted;
        await this.lookUpAgain(call);
      } catch (refusal) {
        // A cached caller may have gained rights since.
        if (!(refusal instanceof Problem) || refusal.status >= 500) throw refusal;
        await this.lookUpAgain(call);
        if (call.caller.rights === rights) throw refusal;
      }
    }
  }

  private async admitOnce(
    call: OperationCall,
    { outgoing, items: named }: PreparedRequest,
    input: object | undefined,
    permit: Permit,
  ): Promise<Reply | Release | 'caller_changed'> {
    const idempotencyKey = readIdempotencyKey(call.idempotencyKey, phonesOf(named));
    if (idempotencyKey === null && call.caller.limits.requireIdempotencyKey) {
      throw new Problem('idempotency_key_required');
    }
    const allowDuplicateOf = readAllowDuplicateOf(call.allowDuplicateOf);
    const { items, problem, ...checks } = await this.checkByItself(call, named, input);
    // Rules may have changed since the first request. Its replay does not depend on them.
    if (problem && idempotencyKey === null) throw problem;
    const overOwnLimit = problem !== undefined;
    const { screening } = checks;
    const content = { items, input, idempotencyKey, allowDuplicateOf, overOwnLimit, screening };
    const request = admissionRequest(call, content);
    const respondAsync = mayQueue(call);
    const intent = newIntent(call, { outgoing, items }, { ...checks, respondAsync });
    const admission = { request, intent };
    const deadline = Math.min(performance.now() + CONCURRENT_DUPLICATE_WAIT_MS, call.sendBy);
    for (;;) {
      const result = await this.decide(call, outgoing, admission, permit);
      if (result.kind === 'released') return result.release;
      if (result.kind === 'held') return pendingReply(call.id);
      if (result.kind === 'queued') return queuedReply(call.id);
      if (result.kind === 'caller_changed') return result.kind;
      if (result.kind === 'over_own_limit') throw problem as Problem;
      if (result.kind === 'unknown_payer') await this.addPayers(call);
      if (result.kind === 'key_reused') throw await this.replays.keyReused(call, result.firstCallId, input);
      if (result.kind !== 'repeated') throw refusalOf(result, call);
      const reply = await this.replays.answer(call, result.firstCallId, performance.now() > deadline);
      if (reply) return reply;
      await sleep(CONCURRENT_DUPLICATE_POLL_MS);
    }
  }

  /**
   * Looks the caller up again and repeats the checks of its rights.
   * @throws Problem if they no longer suffice.
   */
  async lookUpAgain(call: OperationCall): Promise<void> {
    const caller = await this.rechecks.lookUpAgain(call.caller, remainingMs(call)).catch(databaseUnavailable);
    if (!caller) throw new Problem(endOf(call.caller));
    const { operation } = call;
    const problem = operationProblem(caller, operation) ?? sourceProblem(call, caller);
    if (problem) throw problem;
    call.caller = caller;
    call.person = await onBehalfOf(call, this.persons, true);
  }

  /**
   * Rereads the cached payers of a request. Adds a missing person, so the app can resend.
   * @throws Problem if an ephemeral key is gone.
   */
  private async addPayers(call: OperationCall): Promise<void> {
    if (call.person) this.persons.forget(call.caller, call.person);
    await this.lookUpAgain(call);
  }

  /**
   * Checks a request by itself: its names and amounts, the limits of one call, the upstream's coverage and
   * its recipients. Recipients of a request that is refused anyway are not screened.
   */
  private async checkByItself(
    call: OperationCall,
    named: Item[],
    input: object | undefined,
  ): Promise<OwnChecks> {
    let items = named;
    const started = performance.now();
    try {
      await this.ownership.require(call, input);
      items = await this.values.fill(call, items);
      const [problem] = ownLimitProblems(call, items);
      if (problem) throw problem;
      const coverage = await this.coverage.check(call, items);
      const screening = await this.screening.check(call, items);
      return { items, coverage, screening };
    } catch (problem) {
      if (problem instanceof Problem) return { items, coverage: null, screening: null, problem };
      throw problem;
    } finally {
      call.sendBy += performance.now() - started; // look-ups have limits of their own
    }
  }

  private async decide(
    call: OperationCall,
    outgoing: OutgoingRequest,
    { request, intent }: Admission,
    permit: Permit,
  ): Promise<AdmissionResult> {
    // Reading the body may have outlasted its key or token.
    if (hasEnded(call.caller)) throw new Problem(endOf(call.caller));
    const started = performance.now();
    // A queued call waits until the upstream has recovered.
    const sendableInSeconds = intent.respondAsync
      ? null
      : this.upstream.of(outgoing.account).sendableInSeconds(call.operation, outgoing);
    const admission = { request: { ...request, sendableInSeconds }, intent };
    let isReleased = false;
    try {
      const result = await this.admitOrFindClaim(call, admission, permit);
      isReleased = result.kind === 'released';
      call.opened = isReleased || result.kind === 'held' || result.kind === 'queued';
      if (result.kind === 'released') call.feeRule = result.feeRule;
      if (result.kind === 'held') call.outcome = 'pending_approval';
      if (result.kind === 'queued') {
        call.outcome = 'queued';
        this.queue.open(call.id);
      }
      return result;
    } finally {
      if (!isReleased) this.upstream.of(outgoing.account).giveUp(outgoing);
      call.timings.journal = (call.timings.journal ?? 0) + performance.now() - started;
    }
  }

  /** Answers repeated requests while nothing can be admitted. */
  private async admitOrFindClaim(
    call: OperationCall,
    admission: Admission,
    permit: Permit,
  ): Promise<AdmissionResult> {
    try {
      this.mayPay.require('send');
      return await measured(permit, this.journal.admit(admission, remainingMs(call))).catch(
        databaseUnavailable,
      );
    } catch (refusal) {
      const claim = await this.replays.findClaim(admission.request, refusal, remainingMs(call));
      if (!claim) throw refusal;
      return claim;
    }
  }
}
