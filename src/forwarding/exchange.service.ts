import { Injectable } from '@nestjs/common';
import { Call, Caller } from '../auth/call';
import { Problem } from '../errors/problem';
import { JournalService } from '../journal/journal.service';
import { Coverage, Item } from '../journal/records';
import { transactionsIn } from '../upstream/transactions';
import { Outgoing, UpstreamService } from '../upstream/upstream.service';
import { AnswerCache, Given } from './answer-cache';
import { matchItems } from './match';
import { OperationName, rowOf } from './operations';
import { outcomeUnknown } from './reply';
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
  constructor(
    private readonly journal: JournalService,
    private readonly upstream: UpstreamService,
    private readonly cache: AnswerCache,
    private readonly shapes: ShapeWatch,
  ) {}

  async perform(call: Call, ready: Ready): Promise<Given> {
    await this.open(call, ready);
    const given = await this.ask(call, ready.outgoing);
    if (!given.shared) call.timings.upstream = given.upstreamMs;
    await this.close(call, ready.items, given);
    if (!given.shared) this.shapes.note(call, given.answer.status, given.answer.body);
    return given;
  }

  private async open(call: Call, { outgoing, items, coverage }: Ready): Promise<void> {
    const started = performance.now();
    const [, query = null] = outgoing.path.split('?');
    const caller = call.caller as Caller;
    try {
      await this.journal.open({ ...call, caller, query, body: outgoing.body, items, coverage });
    } catch (cause) {
      throw new Problem('database_unavailable', { cause });
    }
    call.opened = true;
    call.timings.journal = performance.now() - started;
  }

  private async ask(call: Call, outgoing: Outgoing): Promise<Given> {
    const send = () => this.upstream.send(outgoing, call.traceparent);
    if (rowOf(call.operation as OperationName).cached) return this.cache.get(outgoing.path, call.id, send);
    return { ...(await send()), shared: null };
  }

  private async close(call: Call, items: Item[], { answer, shared, ...times }: Given): Promise<void> {
    const started = performance.now();
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
        body: shared ? null : answer.body,
        items: transactions,
        answerOf: shared?.fetchedBy ?? null,
        ...times,
      });
    } catch (cause) {
      // It happened, or not, and we cannot prove which: in doubt, like every intent without an outcome.
      throw outcomeUnknown(effect, { cause });
    }
    call.outcome = answer.kind;
    call.timings.journal = (call.timings.journal ?? 0) + performance.now() - started;
  }
}
