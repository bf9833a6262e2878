import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Call, Caller } from '../../access/auth/call';
import { Loaded } from '../../platform/config/config.module';
import { sendableForMs } from '../../platform/config/upstream-timeouts';
import { databaseUnavailable, Problem } from '../../platform/errors/problem';
import { JournalService } from '../../journal/journal.service';
import { Coverage } from '../../journal/records';
import { ageOf, Release } from '../../journal/release';
import { Item } from '../../operations/item';
import { transactionsIn } from '../upstream/transactions';
import { Outgoing, TimedAnswer, UpstreamService } from '../upstream/upstream.service';
import { AnswerCache, Given } from './answer-cache';
import { matchItems } from './match';
import { OperationName, rowOf } from '../../operations/catalogue';
import { ShapeWatch } from './shape-watch';

/** A request that is ready to leave, and what the record shall say of it. */
export interface Ready {
  outgoing: Outgoing;
  items: Item[];
  coverage: Coverage | null;
}

/** One exchange with the upstream and its record: the intent is durable before a byte leaves, the outcome before anyone hears it. */
@Injectable()
export class ExchangeService {
  private readonly sendableForMs: number;

  constructor(
    private readonly journal: JournalService,
    private readonly upstream: UpstreamService,
    private readonly cache: AnswerCache,
    private readonly shapes: ShapeWatch,
    config: ConfigService<Loaded, true>,
  ) {
    this.sendableForMs = sendableForMs(config.get('settings', { infer: true }));
  }

  /** A read: it changes nothing, so it needs no more than its intent. */
  async read(call: Call, ready: Ready): Promise<Given> {
    await this.open(call, ready);
    const fetch = () => this.send(call, ready);
    const row = rowOf(call.operation as OperationName);
    if (row.effect !== 'read' || !row.cached) return { ...(await fetch()), shared: null };
    const given = await this.cache.get(ready.outgoing.path, call.id, fetch);
    if (given.shared) await this.close(call, ready.items, given, given.shared.fetchedBy);
    return given;
  }

  /**
   * Sends what is open already, once, and records what came of it.
   * @param release of what pays or writes: it is not sent too long after it.
   */
  async send(
    call: Call,
    { outgoing, items }: Pick<Ready, 'outgoing' | 'items'>,
    release?: Release,
  ): Promise<TimedAnswer> {
    const isStopped = () => this.journal.isStopped(call.id);
    const isTooLate = release && (() => ageOf(release) > this.sendableForMs);
    const answer = await this.upstream.send(outgoing, call.traceparent, isStopped, isTooLate);
    call.timings.upstream = answer.upstreamMs;
    await this.close(call, items, answer, null);
    this.shapes.note(call, answer.answer.status, answer.answer.body);
    return answer;
  }

  private async open(call: Call, { outgoing, items, coverage }: Ready): Promise<void> {
    const started = performance.now();
    const [, query = null] = outgoing.path.split('?');
    const caller = call.caller as Caller;
    const intent = { ...call, caller, query, body: outgoing.body, items, coverage };
    await this.journal.open(intent).catch(databaseUnavailable);
    call.opened = true;
    call.timings.journal = performance.now() - started;
  }

  /** @param answerOf the call that fetched the answer, if this one did not. */
  private async close(call: Call, items: Item[], timed: TimedAnswer, answerOf: string | null): Promise<void> {
    const started = performance.now();
    const { answer, sentAt, answeredAt, upstreamMs, tries } = timed;
    const { effect } = rowOf(call.operation as OperationName);
    const transactions = effect !== 'read' && answer.body ? matchItems(items, transactionsIn(answer.body)) : [];
    try {
      await this.journal.close({
        intentId: call.id,
        kind: answer.kind,
        failure: answer.failure,
        upstreamStatus: answer.status,
        contentType: answer.contentType,
        retryAfter: answer.retryAfter,
        body: answerOf === null ? answer.body : null,
        items: transactions,
        attempts: tries.length,
        tries:
          answerOf === null
            ? tries.map(({ startedAt, ms, phase, answer: { status, failure } }) => ({
                startedAt,
                ms,
                phase,
                status,
                failure,
              }))
            : [],
        sentAt,
        answeredAt,
        upstreamMs,
        answerOf,
      });
    } catch (cause) {
      // It happened, or not, and we cannot prove which: in doubt, like every intent without an outcome.
      throw new Problem('outcome_unknown', { cause });
    }
    call.outcome = answer.kind;
    call.timings.journal = (call.timings.journal ?? 0) + performance.now() - started;
  }
}
