import { OPERATION_NAMES, OperationName, rowOf } from '../catalogue/catalogue';
import { Change } from '../catalogue/row';
import { CLASSES, ClassRules, TransactionKind } from '../catalogue/transactions';
import { itemFieldsOf } from './items';

/** How an operation's transactions are identified and compared. */
export type CreationRules = TransactionKind & ClassRules;

/** The operations that change something, and so can be in doubt. */
export const CHANGING_OPERATIONS: readonly OperationName[] = OPERATION_NAMES.filter(
  (name) => rowOf(name).effect !== 'read',
);

/** The transactions that each operation creates. Omits operations that create none. */
export const CREATED_BY: ReadonlyMap<string, CreationRules> = new Map(
  CHANGING_OPERATIONS.flatMap((name): [string, CreationRules][] => {
    const transactions = transactionsOf(name);
    if (transactions === 'none' || !('creates' in transactions)) return [];
    const { creates } = transactions;
    return [[name, { ...creates, ...CLASSES[creates.class] }]];
  }),
);

/** The operations that create transactions. */
export const CREATING = [...CREATED_BY.keys()];

/** The change of each operation to its named transaction. Omits operations without one. */
export const CHANGED_BY: ReadonlyMap<string, Change> = new Map(
  CHANGING_OPERATIONS.flatMap((name): [string, Change][] => {
    const transactions = transactionsOf(name);
    return transactions !== 'none' && 'changes' in transactions ? [[name, transactions.changes]] : [];
  }),
);

/** The operations whose successful answers name a transaction for each item. */
export const NAMED_IN_ANSWER: ReadonlySet<string> = new Set(
  CHANGING_OPERATIONS.filter((name) => {
    const transactions = transactionsOf(name);
    return transactions !== 'none' && 'creates' in transactions && transactions.namedInAnswer;
  }),
);

/**
 * The operations whose answers name no transaction, and whose requests have room for an ID of ours. That ID
 * identifies their transactions until the follow-up has read their names.
 */
export const RECOGNIZED_BY_OUR_ID: readonly OperationName[] = CHANGING_OPERATIONS.filter(
  (name) => CREATED_BY.has(name) && !NAMED_IN_ANSWER.has(name) && itemFieldsOf(name)?.ownId !== 'nowhere',
);

/** The types of transactions that calls create. */
export const KNOWN_TYPES = [...new Set([...CREATED_BY.values()].map(({ type }) => type))];

/** Returns whether the type of a transaction is that of another known kind. */
export function isOtherType(type: string | null, { type: own }: Pick<CreationRules, 'type'>): boolean {
  const word = type?.toLowerCase();
  return word !== undefined && word !== own && KNOWN_TYPES.includes(word);
}

/** Returns whether the upstream's listing shows no trace of a call. */
export function leavesNoTransaction(operation: OperationName): boolean {
  return transactionsOf(operation) === 'none' && rowOf(operation).effect !== 'read';
}

function transactionsOf(operation: OperationName) {
  const row = rowOf(operation);
  return row.effect === 'read' ? 'none' : row.transactions;
}
