import { Injectable } from '@nestjs/common';
import { Call } from '../../access/auth/call';
import { AdmissionService } from './admission.service';
import { ExchangeService } from './exchange.service';
import { itemsOf } from '../../operations/items';
import { OperationName, rowOf } from '../../operations/catalogue';
import { toOutgoing } from './outgoing';
import { Preview } from '../preview/preview.dto';
import { PreviewService } from '../preview/preview.service';
import { Reply, toReply } from './reply';

/** The way of every request to the upstream, once it is known who calls and its shape is right. */
@Injectable()
export class ForwardingService {
  constructor(
    private readonly admission: AdmissionService,
    private readonly exchanges: ExchangeService,
    private readonly previews: PreviewService,
  ) {}

  /** @param input the validated body, or the validated query. */
  async run(call: Call, input?: object): Promise<Reply | Preview> {
    if (call.previewOf !== undefined) return this.previews.preview(call, input);
    const operation = call.operation as OperationName;
    const { effect } = rowOf(operation);
    const outgoing = toOutgoing(operation, input);
    const items = itemsOf(operation, input);
    if (effect === 'read') {
      const { answer, shared } = await this.exchanges.read(call, { outgoing, items, coverage: null });
      return toReply(answer, call.id, effect, shared?.age);
    }
    const admitted = await this.admission.admit(call, { outgoing, items, input });
    if (admitted instanceof Reply) return admitted;
    const { answer } = await this.exchanges.send(call, { outgoing, items }, admitted);
    return toReply(answer, call.id, effect);
  }
}
