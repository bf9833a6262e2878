import { Injectable } from '@nestjs/common';
import { Call, Caller } from '../auth/call';
import { Problem } from '../errors/problem';
import { JournalService } from '../journal/journal.service';
import { Item } from '../journal/records';
import { transactionsIn } from '../upstream/transactions';
import { Outgoing, TimedAnswer, UpstreamService } from '../upstream/upstream.service';
import { itemsOf } from './items';
import { matchItems } from './match';
import { INTERFACE_PREFIX, methodOf, OperationName, OPERATIONS, pathOf } from './operations';
import { outcomeUnknown, Reply, toReply } from './reply';
import { ShapeWatch } from './shape-watch';

/** The way of every request to the upstream: its intent is durable before a byte leaves, its outcome before the reply. */
@Injectable()
export class ForwardingService {
  constructor(
    private readonly journal: JournalService,
    private readonly upstream: UpstreamService,
    private readonly shapes: ShapeWatch,
  ) {}

  /** @param input the validated body, or the validated query of a GET. */
  async run(call: Call, input?: object): Promise<Reply> {
    const operation = call.operation as OperationName;
    const outgoing = toOutgoing(operation, input);
    const items = itemsOf(operation, input);
    await this.open(call, outgoing, items);
    const answer = await this.upstream.send(outgoing, call.traceparent);
    call.timings.upstream = answer.upstreamMs;
    await this.close(call, answer, items);
    this.shapes.note(call, answer.answer.status, answer.answer.body);
    return toReply(answer.answer, call.id, OPERATIONS[operation].effect);
  }

  private async open(call: Call, outgoing: Outgoing, items: Item[]): Promise<void> {
    const started = performance.now();
    const [, query = null] = outgoing.path.split('?');
    try {
      await this.journal.open({ ...call, caller: call.caller as Caller, query, body: outgoing.body, items });
    } catch (cause) {
      throw new Problem('database_unavailable', { cause });
    }
    call.opened = true;
    call.timings.journal = performance.now() - started;
  }

  private async close(call: Call, { answer, ...times }: TimedAnswer, items: Item[]): Promise<void> {
    const started = performance.now();
    const { effect } = OPERATIONS[call.operation as OperationName];
    const transactions = effect !== 'read' && answer.body ? matchItems(items, transactionsIn(answer.body)) : [];
    try {
      await this.journal.close({
        intentId: call.id,
        kind: answer.kind,
        failure: answer.failure,
        upstreamStatus: answer.status,
        contentType: answer.contentType,
        retryAfter: answer.retryAfter,
        body: answer.body,
        items: transactions,
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

/** Our own serialisation of what was validated: what was not looked at does not travel. */
function toOutgoing(operation: OperationName, input: object | undefined): Outgoing {
  const path = INTERFACE_PREFIX + pathOf(operation);
  if (methodOf(operation) === 'POST') return { method: 'POST', path, body: Buffer.from(JSON.stringify(input)) };
  const query = new URLSearchParams({ ...input } as Record<string, string>).toString();
  return { method: 'GET', path: query ? `${path}?${query}` : path, body: null };
}
