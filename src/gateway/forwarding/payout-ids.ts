import { OperationName } from '../../operations/catalogue';
import { itemFieldsOf } from '../../operations/items';
import { payoutIdOf } from '../../operations/payout-id';

/** The upstream's field for a reference of the caller. Other names mean something else, such as `tx_ref`. */
const REFERENCE = 'reference';

type Fields = Record<string, unknown>;

/**
 * Writes the ID of each payout into its reference, if the caller leaves it empty. The upstream lists references, so that
 * an equal payment of a stranger is never taken for ours.
 * @param input the validated body. It is not changed.
 */
export function withPayoutIds(operation: OperationName, callId: string, input: object | undefined): object | undefined {
  const items = itemFieldsOf(operation);
  if (input === undefined || items?.fields.reference !== REFERENCE || items.in === 'the_body') return input;
  const list = (input as Record<string, Fields[]>)[items.in] ?? [];
  if (list.every((item) => item[REFERENCE])) return input;
  const marked = list.map((item, position) =>
    item[REFERENCE] ? item : { ...item, [REFERENCE]: payoutIdOf(callId, position) },
  );
  return { ...input, [items.in]: marked };
}
