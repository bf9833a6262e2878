import { Injectable } from '@nestjs/common';
import { Call } from '../auth/call';
import { CoverageService } from './coverage.service';
import { ExchangeService } from './exchange.service';
import { itemsOf } from './items';
import { OperationName, rowOf } from './operations';
import { toOutgoing } from './outgoing';
import { Reply, toReply } from './reply';

/** The way of every request to the upstream, once it is known who calls and its shape is right. */
@Injectable()
export class ForwardingService {
  constructor(
    private readonly coverage: CoverageService,
    private readonly exchanges: ExchangeService,
  ) {}

  /** @param input the validated body, or the validated query. */
  async run(call: Call, input?: object): Promise<Reply> {
    const operation = call.operation as OperationName;
    const outgoing = toOutgoing(operation, input);
    const items = itemsOf(operation, input);
    const coverage = await this.coverage.check(call, items);
    const { answer, shared } = await this.exchanges.perform(call, { outgoing, items, coverage });
    return toReply(answer, call.id, rowOf(operation).effect, shared?.age);
  }
}
