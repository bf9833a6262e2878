import { Inject, Injectable } from '@nestjs/common';
import { remainingMs, OperationCall } from '../../../access/auth/call';
import { isOwn, CallOwner, ownerOf } from '../../../access/auth/owner';
import { keyIn } from '../../../http/validation/idempotency-key';
import { guardWindows } from '../../../journal/admission/admission-rules';
import { ExpectedFees } from '../../../journal/admission/expected-fees';
import { readDryRun } from '../../../journal/admission/state';
import { CallJournal } from '../../../journal/call-journal';
import { FirstCall, readFirstCall, readFirstRequest } from '../../../journal/lookups/earlier-calls';
import { SpooledOutcomes } from '../../../journal/recovery/spooled-outcomes';
import { readDoubts } from '../../../journal/settlement/false-rejections';
import { OperationName, rowOf } from '../../../operations/catalogue/catalogue';
import { Effect } from '../../../operations/catalogue/row';
import { isPlainRejection, quietMsOf, quietPeriodsOf } from '../../../operations/lifecycle/rejections';
import { RunningConfig, SETTINGS } from '../../../platform/config/config';
import { givenUpAfterMs, overAfterMs } from '../../../platform/config/upstream/upstream-timeouts';
import { PrismaService } from '../../../platform/database/pools/prisma.service';
import { withTimeout } from '../../../platform/database/pools/timeouts';
import { causeOf } from '../../../platform/database/pools/unavailable';
import { databaseUnavailable, Problem } from '../../../platform/errors/problem';
import { AdmissionRequest, Obstacle } from '../../../policy/admission';
import { paymentsIn } from '../../../policy/normal-form';
import { MayPay } from '../../may-pay/may-pay.service';
import { inDoubt, inVerification } from './doubt-problems';
import { erasedContent, confirmedReply, pendingReply, queuedReply, Reply, toReply } from './reply';

/** Time limit of recording an outcome. Usual are milliseconds, so a longer time indicates a fault. */
const RECORDED_WITHIN_MS = 5_000;

/**
 * Answers a repeated request with the same idempotency key from the records of the first one. A database that
 * only answers reads is enough.
 */
@Injectable()
export class ReplayService {
  constructor(
    private readonly prisma: PrismaService,
    private readonly journal: CallJournal,
    private readonly spooled: SpooledOutcomes,
    private readonly fees: ExpectedFees,
    private readonly mayPay: MayPay,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  /**
   * Finds the call that holds a request's key while nothing can be admitted.
   * @param refusal the reason.
   * @param leftMs the remaining wait of the request.
   * @returns undefined for a new request, or if the database does not answer.
   */
  async findClaim(
    request: AdmissionRequest,
    refusal: unknown,
    leftMs: number,
  ): Promise<Obstacle | undefined> {
    // An unreachable database would only cost the same wait again.
    const isUnreachable = causeOf((refusal as Error).cause) === 'unreachable';
    if (request.idempotencyKey === null || isUnreachable || this.mayPay.obstacleTo('replay'))
      return undefined;
    const query = readDryRun(this.prisma, request, {
      windows: guardWindows(this.settings),
      fees: this.fees,
    });
    const dryRun = await withTimeout(query, leftMs).catch(() => undefined);
    const claim = dryRun?.obstacles.find(({ kind }) => kind === 'repeated' || kind === 'key_reused');
    // The claim may be of this request, from a commit that was reported as failed.
    return claim && 'firstCallId' in claim && claim.firstCallId !== request.id ? claim : undefined;
  }

  /**
   * @param impatient whether to reject a request whose first call is in progress, instead of waiting.
   * @returns the first call's answer, byte for byte. Undefined to retry in a moment.
   * @throws Problem with the reason for a missing answer.
   */
  async answer(call: OperationCall, firstCallId: string, impatient: boolean): Promise<Reply | undefined> {
    const reply = await this.find(call, firstCallId);
    if (reply === 'in progress' || !reply) {
      // Without a reply, its key has just become free. A key that stays taken must not block forever.
      if (impatient) throw new Problem('request_in_progress', { firstCallId });
      return undefined;
    }
    await this.record(call, reply, firstCallId);
    return reply.asReplay(firstCallId);
  }

  /**
   * Returns the answer without recording the request.
   * @returns undefined if the key has just become free.
   */
  async find(call: OperationCall, firstCallId: string): Promise<Reply | 'in progress' | undefined> {
    const query = readFirstCall(this.prisma, firstCallId, givenUpAfterMs(this.settings) / 1_000);
    const first = await withTimeout(query, remainingMs(call)).catch(databaseUnavailable);
    if (first && !mayRepeat(call, first.made)) throw foreignKey(firstCallId);
    return first && this.toReply(call, first);
  }

  /**
   * Returns the refusal of a request whose key belongs to a different one. A program may replace the key only
   * if nothing would be paid twice, so the two must have no payment in common.
   */
  async keyReused(call: OperationCall, firstCallId: string, input: object | undefined): Promise<Problem> {
    const query = readFirstRequest(this.prisma, firstCallId);
    const first = await withTimeout(query, remainingMs(call)).catch(databaseUnavailable);
    if (first && !mayRepeat(call, first.made)) return foreignKey(firstCallId);
    const isOther = first?.body !== undefined && areDisjoint(call.operation, first.body, input);
    return new Problem('idempotency_key_reused', { firstCallId, ...(isOther && OTHER_PAYMENT) });
  }

  private async toReply(call: OperationCall, first: FirstCall): Promise<Reply | 'in progress' | undefined> {
    const { effect } = rowOf(call.operation);
    const { id, state, isKeyFree, payouts } = first;
    if (isKeyFree) return undefined;
    switch (state) {
      case 'succeeded':
      case 'rejected':
        return storedReply(state, first, effect);
      case 'confirmed':
        return confirmedReply(id, payouts);
      case 'pending_approval':
        return pendingReply(id);
      case 'queued':
        return queuedReply(id);
      case 'expired':
        throw new Problem('approval_expired', { firstCallId: id });
      case 'declined':
        throw new Problem('approval_rejected', { firstCallId: id });
      case 'in_progress':
        return this.inProgress(first);
      case 'not_sent':
      case 'not_executed':
      case 'refused':
        return undefined; // their keys are free
      case 'unknown':
        throw await this.doubtOf(call, first);
    }
  }

  /**
   * Returns that the first call is in progress, unless it was sent too long ago.
   * @throws Problem if its outcome is known but not recorded yet, or not expected soon.
   */
  private inProgress(first: FirstCall): 'in progress' {
    const { id, ageMs } = first;
    if (this.spooled.has(id)) throw inDoubt(first, 'is known and cannot be recorded at the moment');
    if (ageMs > overAfterMs(this.settings) + RECORDED_WITHIN_MS) throw inDoubt(first);
    return 'in progress';
  }

  /** Returns the refusal to repeat a call in doubt. */
  private async doubtOf(call: OperationCall, first: FirstCall): Promise<Problem> {
    const { failure = null, upstream_status: upstreamStatus = null } = first.outcome ?? {};
    const isPlain = isPlainRejection({ failure, upstreamStatus });
    const { account } = call.caller;
    const isDoubted = isPlain && (await readDoubts(this.prisma))({ account, operation: call.operation });
    const quietMs = quietMsOf(isPlain && !isDoubted, quietPeriodsOf(this.settings));
    return inVerification(first, quietMs) ?? inDoubt(first);
  }

  /** Records the request. The first call has its own record. */
  private async record(call: OperationCall, { status }: Reply, firstCallId: string): Promise<void> {
    const refusal = {
      ...call,
      status,
      firstCallId,
      faults: [],
      faultsTotal: 0,
      code: 'idempotent_replay',
      detail: 'The answer to the first request with this Idempotency-Key was replayed. Nothing was sent.',
      idempotencyKey: keyIn(call.idempotencyKey),
    };
    await this.journal.refusals.record(refusal).catch(async (error: unknown) => {
      const cause = causeOf(error);
      if (cause === undefined || cause === 'unreachable') databaseUnavailable(error);
      // Written later, once the database takes writes.
      await this.journal.refusals.recordSoon(refusal, remainingMs(call));
    });
    call.outcome = 'replayed';
  }
}

/** Returns the upstream's answer while it is stored. */
function storedReply(kind: 'succeeded' | 'rejected', first: FirstCall, effect: Effect): Reply {
  const { id, outcome, body } = first;
  const {
    upstream_status: status,
    content_type: contentType = null,
    retry_after: retryAfter = null,
  } = outcome ?? {};
  if (status === undefined) throw inDoubt(first); // An answer has a status.
  const content = body === null ? erasedContent(kind, id) : { contentType, body };
  return toReply({ kind, failure: null, status, retryAfter, ...content }, id, effect);
}

/**
 * Returns whether a caller may have the answer to a call. A personal key gets only answers to its person's
 * calls. A server that names a person gets no answer to calls of others.
 */
function mayRepeat(call: OperationCall, made: CallOwner): boolean {
  const { person } = call;
  const isAnothers = person !== null && made.personId !== null && made.personId !== person.id;
  return isOwn(made, ownerOf(call)) && !isAnothers;
}

function foreignKey(firstCallId: string): Problem {
  return new Problem('idempotency_key_reused', {
    text:
      'This Idempotency-Key belongs to a request of your client that is not yours. ' +
      'If it is the same payout, do not send it again. Otherwise use a new key.',
    firstCallId,
  });
}

const OTHER_PAYMENT = {
  text:
    'This Idempotency-Key belongs to a call with other recipients or amounts. Nothing was sent. ' +
    'Use a new key for a new payout.',
  action: 'new_key',
} as const;

/** Returns whether two bodies have no common payment. */
function areDisjoint(operation: OperationName, body: object, other: object | undefined): boolean {
  const payments = new Set(paymentsIn(operation, body));
  return !paymentsIn(operation, other).some((payment) => payments.has(payment));
}
