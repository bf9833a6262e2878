import { Decimal } from 'decimal.js';
import { OperationCall } from '../../access/auth/call';
import { Limits } from '../../access/clients/limits/limits';
import { isEndUser } from '../../access/people/person';
import { paymentsTo } from '../../journal/admission/content-keys';
import { recipientsOf } from '../../journal/admission/recipients';
import { Screened } from '../../journal/records/records';
import { movesValue } from '../../operations/catalogue/catalogue';
import { Item, totalOf } from '../../operations/items/item';
import { AdmissionRequest } from '../../policy/admission';
import { usesRegister } from '../../policy/limits/beneficiaries';
import { HeldFor } from '../../policy/limits/holds';
import { needsApproval } from '../../policy/limits/limit-rules';
import { dependOnHistory } from '../../policy/limits/recipient-days';
import { normalForm } from '../../policy/normal-form';

/** The content of a request that its admission depends on. */
interface Content {
  items: Item[];
  /** The validated body. */
  input: object | undefined;
  idempotencyKey: string | null;
  allowDuplicateOf: string | null;
  overOwnLimit: boolean;
  screening: Screened | null;
}

/** Builds the admission request of a call. */
export function admissionRequest(call: OperationCall, content: Content): AdmissionRequest {
  const { id, caller, person, operation } = call;
  const { items, input, idempotencyKey, allowDuplicateOf, overOwnLimit, screening } = content;
  const { blocksRecipients } = caller;
  const { beneficiariesOnly } = caller.limits;
  const usd = movesValue(operation) ? totalOf(items) : null;
  return {
    id,
    clientId: caller.clientId,
    account: caller.account,
    operation,
    items,
    endUserId: person && isEndUser(person) ? person.id : null,
    payers: usd === null ? [] : payersOf(call),
    idempotencyKey,
    allowDuplicateOf,
    content: normalForm(operation, input),
    overOwnLimit,
    sendableInSeconds: null, // set by the upstream's circuit
    usd,
    feeUsd: null, // set by the journal
    heldFor: ownHold(caller.limits, usd, screening),
    recipients: usesRegister({ beneficiariesOnly, blocksRecipients })
      ? recipientsOf(caller.clientId, operation, items)
      : null,
    payments: usd !== null && dependOnHistory(caller.limits) ? paymentsTo(caller.clientId, items) : null,
  };
}

/** Returns the payers, other than the client, whose caps a request counts against. */
function payersOf({ caller, person }: OperationCall): string[] {
  const { credential } = caller;
  return [...(person ? [person.id] : []), ...(credential.kind === 'ephemeral' ? [credential.id] : [])];
}

/** Returns the reason why a request needs an approval by itself: first a review, for the approver to know. */
function ownHold(limits: Limits, usd: Decimal | null, screening: Screened | null): HeldFor | null {
  if (screening === 'review') return 'screening_review';
  return needsApproval(limits, usd) ? 'over_threshold' : null;
}
