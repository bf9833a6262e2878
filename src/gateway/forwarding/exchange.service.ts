import { Inject, Injectable, Logger } from '@nestjs/common';
import { remainingMs, OperationCall } from '../../access/auth/call';
import { hasEnded } from '../../access/callers/caller';
import { ageOf } from '../../continuity/heartbeat/instant';
import { eventsThatArrived, watchHandover } from '../../http/connections/handovers';
import { ExpectedFees } from '../../journal/admission/expected-fees';
import { CallJournal } from '../../journal/call-journal';
import { UnknownStatuses } from '../../journal/outcomes/unknown-statuses';
import { Release, NewOutcome, UpstreamItem } from '../../journal/records/records';
import { recordUndelivered } from '../../journal/settlement/settled-by-upstream';
import { rowOf } from '../../operations/catalogue/catalogue';
import { Item } from '../../operations/items/item';
import { StatusVocabulary } from '../../operations/lifecycle/statuses';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { sendableForMs, Timeouts } from '../../platform/config/upstream/upstream-timeouts';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { DatabaseTooSlow, OUTCOME_ANSWER_MS, waitAtMost } from '../../platform/database/pools/timeouts';
import { databaseUnavailable, Problem } from '../../platform/errors/problem';
import { measured, Permit } from '../admission-control/permit';
import { MayPay } from '../may-pay/may-pay.service';
import { TimedAnswer } from '../upstream/upstream-account';
import { UpstreamService } from '../upstream/upstream.service';
import { AnswerCache, answerKey, ReadAnswer } from './coverage/answer-cache';
import { outcomeOf } from './outcome/outcome';
import { newIntent, PreparedRequest } from './prepared-request';
import { ShapeWatch } from './reply/shape-watch';

/**
 * Sends one request to the upstream and records it. The intent is durable before the first byte is sent. The
 * outcome is durable before the caller gets a response.
 */
@Injectable()
export class ExchangeService {
  private readonly logger = new Logger('Exchange');
  private readonly timeouts: Timeouts;
  private readonly sendableForMs: number;
  private readonly vocabulary: StatusVocabulary;

  constructor(
    private readonly prisma: PrismaService,
    private readonly journal: CallJournal,
    private readonly upstream: UpstreamService,
    private readonly cache: AnswerCache,
    private readonly shapes: ShapeWatch,
    private readonly statuses: UnknownStatuses,
    private readonly fees: ExpectedFees,
    private readonly mayPay: MayPay,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    this.timeouts = settings;
    this.sendableForMs = sendableForMs(settings);
    this.vocabulary = StatusVocabulary.with(settings.upstreamStatusWords);
  }

  /**
   * Sends a read, without an admission.
   * @param permit the permit, if it needs one. Its admission ends once the intent is recorded.
   * @throws Problem if it may not be sent now. Nothing was written about it.
   */
  async read(call: OperationCall, prepared: PreparedRequest, permit?: Permit): Promise<ReadAnswer> {
    const { outgoing } = prepared;
    const row = rowOf(call.operation);
    const isCached = row.effect === 'read' && row.cached;
    const account = this.upstream.of(outgoing.account);
    const key = answerKey(outgoing);
    if (isCached && this.cache.has(key)) this.mayPay.require('read_without_circuit');
    else this.mayPay.require('read', { sendable: { account, outgoing } });
    try {
      await measured(permit, this.open(call, prepared));
      const fetch = () => this.send(call, prepared);
      if (!isCached) return { shared: null, ...(await fetch()) };
      const answer = await this.cache.get(key, call.id, fetch);
      if (answer.shared) await this.close(call, prepared, answer, answer.shared.fetchedBy);
      return answer;
    } finally {
      account.giveUp(outgoing);
    }
  }

  /**
   * Sends an admitted call once, and records its outcome.
   * @param release of a call that pays or writes. Limits the time from the admission to the sending.
   * @param permit is released at the upstream's answer.
   */
  async send(
    call: OperationCall,
    prepared: PreparedRequest,
    release?: Release,
    permit?: Permit,
  ): Promise<TimedAnswer> {
    const { outgoing, shown } = prepared;
    const isTooLate =
      release &&
      (() => performance.now() > call.sendBy || ageOf(release) > this.sendableForMs || hasEnded(call.caller));
    const received = await this.upstream.of(outgoing.account).send(outgoing, call.traceparent, isTooLate);
    permit?.release();
    call.timings.upstream = received.upstreamMs;
    const answer = shown ? await shown(received) : received;
    await this.close(call, prepared, answer, null);
    this.shapes.watch(call, received.answer.status, received.answer.body);
    return answer;
  }

  private async open(call: OperationCall, prepared: PreparedRequest): Promise<void> {
    const started = performance.now();
    await this.journal.open(newIntent(call, prepared), remainingMs(call)).catch(databaseUnavailable);
    call.opened = true;
    call.timings.journal = performance.now() - started;
  }

  /** @param answerOf the call that fetched the answer. Null for this call. */
  private async close(
    call: OperationCall,
    { outgoing, items }: PreparedRequest,
    timed: TimedAnswer,
    answerOf: string | null,
  ): Promise<void> {
    const started = performance.now();
    const { answer } = timed;
    const { effect } = rowOf(call.operation);
    let outcome: NewOutcome;
    try {
      outcome = outcomeOf(call, items, timed, this.vocabulary, answerOf);
      outcome.undelivered = isCallerGone(call);
      // Precedes the fees, because it may be spooled to disk.
      const closed = this.journal.close(outcome, effect !== 'read');
      await this.whileAwaited(
        call,
        Promise.all([closed, this.observeFees(call, outgoing.account, items, outcome.items)]),
      );
    } catch (cause) {
      // The request may have been executed. Like every intent without an outcome, the call is in doubt.
      throw new Problem('outcome_unknown', { cause });
    }
    for (const { status, payoutStatus = null, upstreamRef } of outcome.items) {
      this.statuses.note({ status, upstreamRef }, call.id);
      this.statuses.note({ status: payoutStatus, upstreamRef }, call.id);
    }
    call.outcome = answer.kind;
    call.timings.journal = (call.timings.journal ?? 0) + performance.now() - started;
    if (effect !== 'read' && !outcome.undelivered) await this.handOver(call);
  }

  /**
   * Waits for the record of an answer as long as the caller does. The journal keeps writing it after that.
   * @throws DatabaseTooSlow
   */
  private async whileAwaited(call: OperationCall, written: Promise<unknown>): Promise<void> {
    const late = Symbol('late');
    if ((await waitAtMost(written, OUTCOME_ANSWER_MS, () => late)) !== late) return;
    const isRead = rowOf(call.operation).effect === 'read';
    written
      .then(() => (isRead ? undefined : this.recordUndelivered(call)))
      .catch((err: unknown) =>
        this.logger.error({ err, call_id: call.id }, 'outcome not recorded, call is in doubt'),
      );
    throw new DatabaseTooSlow();
  }

  /** Records if the reply is known to be undelivered. */
  private async handOver(call: OperationCall): Promise<void> {
    if (!call.connection) return;
    await eventsThatArrived(); // the caller may have hung up during the write
    if (isCallerGone(call)) return this.recordUndelivered(call);
    watchHandover(call, () => void this.recordUndelivered(call));
  }

  /** Learns the fees for later reservations. */
  private async observeFees(
    { id, operation, feeRule: rule }: OperationCall,
    account: string,
    items: Item[],
    transactions: UpstreamItem[],
  ): Promise<void> {
    const fees = transactions.flatMap(({ position, amountUsd, feeUsd }) => {
      const amount = (position === null ? null : items[position]?.amountUsd) ?? amountUsd;
      return feeUsd ? [{ amountUsd: amount, feeUsd }] : [];
    });
    if (fees.length > 0) await this.fees.observe([{ id, account, operation, rule, fees }]);
  }

  /**
   * The caller hung up after the outcome was recorded. Nothing waits any more, so a failure is only logged.
   */
  private async recordUndelivered({ id }: OperationCall): Promise<void> {
    try {
      await recordUndelivered(this.prisma, id, this.timeouts);
    } catch (err) {
      this.logger.error({ err, call_id: id }, 'undelivered answer not recorded');
    }
  }
}

/** Returns whether the caller of a call that pays or writes is gone. */
function isCallerGone({ connection, operation }: OperationCall): boolean {
  return connection?.writable === false && rowOf(operation).effect !== 'read';
}
