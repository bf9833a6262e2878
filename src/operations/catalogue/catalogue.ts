import { DOCUMENTED } from './documented';
import { OBSERVED } from './observed';
import { NamedObject, OperationRow } from './row';
import { Scope } from './scopes';

/**
 * The operations of the interface. The key is the operation's line in docs/reference/upstream.md, the
 * argument of the decorator, the value in records and the filter of searches. One text search finds all uses
 * of an operation.
 */
export const OPERATIONS = { ...DOCUMENTED, ...OBSERVED };

export type OperationName = keyof typeof OPERATIONS;

/** The names of all operations, in the order of the interface. */
export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[];

/**
 * Reads the name of an operation from a record.
 * @throws Error if no operation has this name.
 */
export function operationNamed(text: string): OperationName {
  if (!isOperation(text)) throw new Error(`${text} is not an operation of the interface`);
  return text;
}

export function isOperation(text: string): text is OperationName {
  return Object.hasOwn(OPERATIONS, text);
}

/** Returns the catalogue row of an operation. */
export function rowOf(operation: OperationName): OperationRow {
  return OPERATIONS[operation];
}

/** Returns whether docs/reference/upstream.md documents an operation. Others are from public clients. */
export function sourceOf(operation: OperationName): 'documented' | 'observed' {
  return Object.hasOwn(DOCUMENTED, operation) ? 'documented' : 'observed';
}

/** Returns all scopes that a key needs for an operation. */
export function scopesOf(operation: OperationName): Scope[] {
  const { effect, reach } = rowOf(operation);
  return reach === 'account' ? [effect, 'account'] : [effect];
}

/** Returns the input field of an operation that names an upstream object. Undefined without one. */
export function namedObjectOf(operation: OperationName): NamedObject | undefined {
  const { reach } = rowOf(operation);
  return typeof reach === 'object' ? reach : undefined;
}

/** Returns whether the answers of an operation list transactions, possibly of several clients. */
export function listsTransactions(operation: OperationName): boolean {
  return rowOf(operation).reach === 'transactions' || namedObjectOf(operation)?.names === 'batchRef';
}

/** Returns whether an operation reaches only objects of the caller's client, without the scope `account`. */
export function reachesOnlyOwn(operation: OperationName): boolean {
  return namedObjectOf(operation) !== undefined || listsTransactions(operation);
}

/** Returns whether an operation moves value and so counts on caps, money limits and approval thresholds. */
export function movesValue(operation: OperationName): boolean {
  const row = rowOf(operation);
  return row.effect === 'pay' || (row.effect === 'write' && row.moves === 'named_transaction');
}

/** Returns whether a call moves the value of a named transaction instead of a stated amount. */
export function movesNamedTransaction(operation: OperationName): boolean {
  const row = rowOf(operation);
  return row.effect === 'write' && row.moves === 'named_transaction';
}

/**
 * Returns whether a call may be sent in its turn (`Prefer: respond-async`). One with its input in the query
 * may not, because its record may mask the query.
 */
export function mayBeQueued(operation: OperationName): boolean {
  const { effect, input } = rowOf(operation);
  return effect !== 'read' && input === 'body';
}

/** The path prefix of the interface, here and at the upstream (docs/reference/upstream.md, "Requests"). */
export const INTERFACE_PREFIX = '/api/v0.1';

/** The path prefix of previews. A preview forecasts a call that pays or writes, without effect. */
export const PREVIEW_PREFIX = '/v1/preview';

export function methodOf(operation: OperationName): 'GET' | 'POST' {
  return operation.startsWith('GET ') ? 'GET' : 'POST';
}

export function pathOf(operation: OperationName): string {
  return operation.slice(operation.indexOf(' ') + 1);
}
