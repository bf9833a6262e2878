import { OPERATION_NAMES, OperationName, rowOf } from '../../operations/catalogue/catalogue';
import { CREATED_BY } from '../../operations/items/effects';
import { itemFieldsOf } from '../../operations/items/items';

const CREATING = OPERATION_NAMES.filter((name) => CREATED_BY.has(name));

/** Operations with a sample on the sandbox page: those that create transactions, payments first. */
export const SAMPLE_OPERATIONS: readonly OperationName[] = [
  ...CREATING.filter((name) => rowOf(name).effect === 'pay'),
  ...CREATING.filter((name) => rowOf(name).effect !== 'pay'),
];

export interface Sample {
  operation: OperationName;
  title: string;
  body: object;
}

/**
 * Returns the example of each operation's row.
 * @param subAccounts IDs of receivers of a transfer.
 */
export function samplesFor(subAccounts: string[]): Sample[] {
  return SAMPLE_OPERATIONS.map((operation) => {
    const { title, example } = rowOf(operation);
    const receiver = itemFieldsOf(operation)?.fields.receiver;
    const body = receiver === undefined ? example : { ...example, [receiver]: subAccounts[0] };
    return { operation, title, body };
  });
}
