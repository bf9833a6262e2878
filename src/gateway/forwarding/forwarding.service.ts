import { Inject, Injectable } from '@nestjs/common';
import { OperationCall } from '../../access/auth/call';
import { listsTransactions, rowOf, OperationName } from '../../operations/catalogue/catalogue';
import { ID_FORMS, payoutIdOf } from '../../operations/catalogue/payout-id';
import { itemsOf, itemFieldsOf } from '../../operations/items/items';
import { quietMsOf, quietPeriodsOf } from '../../operations/lifecycle/rejections';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { LoadShedderService } from '../admission-control/load-shedder.service';
import { toOutgoing } from '../upstream/transport/outgoing';
import { UpstreamService } from '../upstream/upstream.service';
import { AdmissionService } from './admission.service';
import { ExchangeService } from './exchange.service';
import { OwnershipService } from './ownership/ownership.service';
import { PreparedRequest } from './prepared-request';
import { Reply, toReply } from './reply/reply';
import { withWallet } from './wallet';

/** Handles every upstream request whose caller is known and whose body is valid. */
@Injectable()
export class ForwardingService {
  constructor(
    private readonly shedder: LoadShedderService,
    private readonly admission: AdmissionService,
    private readonly ownership: OwnershipService,
    private readonly exchanges: ExchangeService,
    private readonly upstream: UpstreamService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
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
    const permit = await this.shedder.enter(call, prepared.outgoing.body?.length ?? 0);
    try {
      if (effect === 'read') {
        // The key may have been revoked meanwhile. An admission checks that in its transaction.
        if (permit.hasWaited) await this.admission.lookUpAgain(call);
        const started = performance.now();
        await this.ownership.require(call, input);
        call.sendBy += performance.now() - started; // a look-up has limits of its own
        if (listsTransactions(operation))
          prepared.shown = (received) => this.ownership.withoutOthers(call, received);
        const { answer, shared } = await this.exchanges.read(call, prepared, permit);
        return toReply(answer, id, effect, { age: shared?.age });
      }
      const admitted = await this.admission.admit(call, prepared, input, permit);
      if (admitted instanceof Reply) return admitted;
      const { answer } = await this.exchanges.send(call, prepared, admitted, permit);
      return toReply(answer, id, effect, { quietMs: quietMsOf(true, quietPeriodsOf(this.settings)) });
    } finally {
      permit.release();
    }
  }
}

type Fields = Record<string, unknown>;

/**
 * Writes an ID of the proxy into the free reference field of the request, if the field is empty. The upstream
 * lists the field, so an equal payment by others is never mistaken for ours.
 * @param input the validated body. Not changed.
 */
export function withPayoutIds(
  operation: OperationName,
  callId: string,
  input: object | undefined,
): object | undefined {
  const { ownId = 'nowhere', in: list = '' } = itemFieldsOf(operation) ?? {};
  if (input === undefined || ownId === 'nowhere') return input;
  const { field, of, form } = ownId;
  const marked = (fields: Fields, id: string) =>
    fields[field] ? fields : { ...fields, [field]: ID_FORMS[form](id) };
  if (of === 'the_body') return marked(input as Fields, callId);
  const items = (input as Record<string, Fields[]>)[list] ?? [];
  return { ...input, [list]: items.map((item, position) => marked(item, payoutIdOf(callId, position))) };
}
