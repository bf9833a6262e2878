import { Injectable } from '@nestjs/common';
import { OperationCall } from '../../access/auth/call';
import { itemsOf } from '../../operations/items';
import { listsTransactions, rowOf } from '../../operations/catalogue';
import { UpstreamService } from '../upstream/upstream.service';
import { GateService } from '../admission-control/gate.service';
import { AdmissionService } from './admission.service';
import { ExchangeService } from './exchange.service';
import { toOutgoing } from '../upstream/outgoing';
import { OwnershipService } from './ownership.service';
import { withPayoutIds } from './payout-ids';
import { PreparedRequest } from './prepared-request';
import { Reply, toReply } from './reply';
import { withWallet } from './wallet';

/** Handles every request to the upstream, once its caller is known and its body is valid. */
@Injectable()
export class ForwardingService {
  constructor(
    private readonly gate: GateService,
    private readonly admission: AdmissionService,
    private readonly ownership: OwnershipService,
    private readonly exchanges: ExchangeService,
    private readonly upstream: UpstreamService,
  ) {}

  /** @param input the validated body, or the validated query. */
  async run(call: OperationCall, input?: object): Promise<Reply> {
    const { caller, id, operation } = call;
    const { effect } = rowOf(operation);
    const account = this.upstream.of(caller.account);
    const sent = withPayoutIds(operation, id, withWallet(account, operation, input));
    const prepared: PreparedRequest = {
      outgoing: toOutgoing(account, operation, sent),
      items: itemsOf(operation, sent),
    };
    const place = await this.gate.enter(call);
    try {
      if (effect === 'read') {
        const started = performance.now();
        await this.ownership.require(call, input);
        call.sendBy += performance.now() - started; // a look-up has limits of its own
        if (listsTransactions(operation)) prepared.shown = (received) => this.ownership.withoutOthers(call, received);
        const { answer, shared } = await this.exchanges.read(call, prepared, place);
        return toReply(answer, id, effect, shared?.age);
      }
      const admitted = await this.admission.admit(call, prepared, input, place);
      if (admitted instanceof Reply) return admitted;
      const { answer } = await this.exchanges.send(call, prepared, admitted, place);
      return toReply(answer, id, effect);
    } finally {
      place.release();
    }
  }
}
