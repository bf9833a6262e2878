import { OperationName } from '../../operations/catalogue';
import { itemFieldsOf } from '../../operations/items';
import { ID_FORMS, payoutIdOf } from '../../operations/payout-id';

type Fields = Record<string, unknown>;

/**
 * Writes an ID of ours into the field of a request that has room for one, if the caller leaves it empty or out. The
 * upstream lists the field, so that an equal payment of a stranger is never taken for ours.
 * @param input the validated body. It is not changed.
 */
export function withPayoutIds(operation: OperationName, callId: string, input: object | undefined): object | undefined {
  const { ownId = 'nowhere', in: list = '' } = itemFieldsOf(operation) ?? {};
  if (input === undefined || ownId === 'nowhere') return input;
  const { field, of, form } = ownId;
  const marked = (fields: Fields, id: string) => (fields[field] ? fields : { ...fields, [field]: ID_FORMS[form](id) });
  if (of === 'the_body') return marked(input as Fields, callId);
  const items = (input as Record<string, Fields[]>)[list] ?? [];
  return { ...input, [list]: items.map((item, position) => marked(item, payoutIdOf(callId, position))) };
}
