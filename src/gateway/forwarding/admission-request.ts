import { OperationCall } from '../../access/auth/call';
import { Item, totalOf } from '../../operations/item';
import { movesValue } from '../../operations/catalogue';
import { recipientsOf } from '../../journal/beneficiaries';
import { paymentsTo } from '../../journal/content-keys';
import { AdmissionRequest } from '../../policy/admission';
import { usesRegister } from '../../policy/beneficiaries';
import { canonical } from '../../policy/content';
import { needsApproval } from '../../policy/limit-rules';
import { dependOnHistory } from '../../policy/recipient-days';

/** The parts of a request that its admission depends on. */
interface Content {
  items: Item[];
  /** The validated body. */
  input: object | undefined;
  idempotencyKey: string | null;
  allowDuplicateOf: string | null;
  overOwnLimit: boolean;
}

/** Turns a call into the request that admission decides about. */
export function admissionRequest(call: OperationCall, content: Content): AdmissionRequest {
  const { id, caller, operation } = call;
  const { items, input, idempotencyKey, allowDuplicateOf, overOwnLimit } = content;
  const usd = movesValue(operation) ? totalOf(items) : null;
  return {
    id,
    clientId: caller.clientId,
    operation,
    items,
    idempotencyKey,
    allowDuplicateOf,
    content: canonical(input),
    overOwnLimit,
    sendableInSeconds: null, // the upstream's circuit knows it
    usd,
    feeUsd: null, // the journal knows it
    heldFor: needsApproval(caller.limits, usd) ? 'over_threshold' : null,
    recipients: usesRegister({ ...caller.limits, blocksRecipients: caller.blocksRecipients })
      ? recipientsOf(caller.clientId, operation, items)
      : null,
    payments: usd !== null && dependOnHistory(caller.limits) ? paymentsTo(caller.clientId, items) : null,
  };
}
