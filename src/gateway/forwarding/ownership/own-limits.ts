import { OperationCall } from '../../../access/auth/call';
import { Caller } from '../../../access/callers/caller';
import { recipientsOf } from '../../../journal/admission/recipients';
import { movesValue, OperationName } from '../../../operations/catalogue/catalogue';
import { Item } from '../../../operations/items/item';
import { pointerIn, valueFieldOf } from '../../../operations/items/items';
import { Problem } from '../../../platform/errors/problem';
import {
  brokenLimits,
  LimitedItem,
  limitsOfRequest,
  missingPerson,
} from '../../../policy/limits/limit-rules';

const NOT_OF_KEY = 'is not among the recipients of this ephemeral key';

/** Returns the limits of its client, person and credential that a request exceeds by itself. */
export function ownLimitProblems(call: OperationCall, items: Item[], positions?: number[]): Problem[] {
  const { caller, person, operation } = call;
  const missing = person === null && movesValue(operation) ? missingPerson(caller.limits) : undefined;
  const limits = limitsOfRequest(call);
  const others = recipientProblem(caller, operation, items, positions);
  return [
    ...(missing ? [missing] : []),
    ...limitProblems({ limits }, operation, items, positions),
    ...(others ? [others] : []),
  ];
}

/**
 * Returns the limits that a request or a held call exceeds by itself.
 * @param positions of the items in the body's list, if some are omitted.
 */
export function limitProblems(
  { limits }: Pick<Caller, 'limits'>,
  operation: OperationName,
  items: LimitedItem[],
  positions?: number[],
): Problem[] {
  const fields = { amount: valueFieldOf(operation), country: 'country', phone: 'phone' } as const;
  const pointer = pointerIn(operation);
  return brokenLimits(limits, movesValue(operation), items, (index, field) =>
    pointer(positions?.[index] ?? index, fields[field]),
  );
}

/**
 * Returns the problem of a credential that may not pay the recipients of a request. As in a register, the
 * name that the upstream pays by identifies a recipient. Undefined if the credential may pay them.
 * @param positions as for {@link limitProblems}.
 */
function recipientProblem(
  { clientId, credential }: Pick<Caller, 'clientId' | 'credential'>,
  operation: OperationName,
  items: Item[],
  positions?: number[],
): Problem | undefined {
  if (credential.kind !== 'ephemeral' || credential.recipients === null) return undefined;
  const { recipients } = credential;
  const pointer = pointerIn(operation);
  const others = recipientsOf(clientId, operation, items).filter(
    ({ paidBy }) => !recipients.has(paidBy ?? ''),
  );
  const faults = others.map(({ position, field }) => ({
    pointer: pointer(positions?.[position] ?? position, field ?? valueFieldOf(operation)),
    detail: NOT_OF_KEY,
  }));
  return faults.length > 0 ? new Problem('recipient_not_allowed', { faults }) : undefined;
}
