import { Decimal } from 'decimal.js';
import { payersOf } from '../../gateway/waiting/waiting-call';
import { FullStoredCall } from '../../history/records/rows';
import { paymentsTo } from '../../journal/admission/content-keys';
import { recipientsOf } from '../../journal/admission/recipients';
import { movesValue, operationNamed } from '../../operations/catalogue/catalogue';
import { Item } from '../../operations/items/item';

/** Returns the parts of a held call that decide whether it may be sent. */
export function heldCallOf(held: FullStoredCall, items: Item[]) {
  const { client_id: clientId, total_usd: total = null, expected_fee_usd: fee } = held.intent;
  const { unexplained_transaction: knownTransaction } = held.intent;
  const operation = operationNamed(held.intent.operation);
  const usd = movesValue(operation) && total !== null ? new Decimal(total) : null;
  return {
    clientId,
    operation,
    items,
    usd,
    feeUsd: fee === undefined ? null : new Decimal(fee),
    payments: usd && paymentsTo(clientId, items),
    payers: payersOf(held),
    recipients: recipientsOf(clientId, operation, items),
    knownTransaction,
  };
}
