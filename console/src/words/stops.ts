import type { NewStopDto, OperationDto, StopRecord } from '../api/generated/schema';

/** Target of a stop. One of its members is set. */
export type Target = Pick<NewStopDto, 'everything' | 'client' | 'operation'>;

/** Returns the target of a recorded stop. */
export function targetOf({ client, operation }: StopRecord): Target {
  if (client !== null) return { client };
  return operation === null ? { everything: true } : { operation };
}

/** Describes a target: `POST /payouts/airtime of all clients`. */
export function inShort({ client, operation }: Target): string {
  if (client !== undefined) return `All payments and writes of the client ${client}`;
  if (operation !== undefined) return `${operation} of all clients`;
  return 'Everything, of all clients';
}

/**
 * Returns the operations that a stop affects.
 * @param allowed operations of the target client. Null means all.
 */
export function stoppedBy(
  { client, operation }: Target,
  operations: OperationDto[],
  allowed: string[] | null = null,
): string[] {
  if (operation !== undefined) return [operation];
  const stoppable = operations.filter(({ effect }) => effect !== 'read').map((one) => one.operation);
  return stoppable.filter((name) => client === undefined || allowed === null || allowed.includes(name));
}
