import { reachesWholeAccount } from '../../access/auth/owner';
import { missingScopes, operationProblem } from '../../access/auth/route-access';
import { Caller } from '../../access/callers/caller';
import { OperationName } from '../../operations/catalogue/catalogue';
import { Prisma } from '../../platform/database/generated/client';
import { RegisterRules } from '../../policy/limits/beneficiaries';
import { LimitedItem } from '../../policy/limits/limit-rules';
import { limitProblems } from '../forwarding/ownership/own-limits';
import { BrokenRule } from '../may-pay/obstacles';
import { readRecordedItems } from './recorded-items';
import { readRequesters } from './requesters';

/**
 * Returns the first rule that forbids a call now: its key, its scope, the operation, the owner of the named
 * transaction, or a limit per call of its client or person. Ignores the approval threshold. The transaction
 * that releases the call checks stops and the register of recipients, and an approval the caps.
 * @param caller the requester from `readRequesters`. Undefined if its key is no longer valid.
 * @param isOwn whether the call names no foreign transaction, from `OwnershipService`.
 */
export function brokenRule(
  caller: Caller | undefined,
  operation: OperationName,
  items: LimitedItem[],
  isOwn: boolean,
): BrokenRule | undefined {
  if (!caller) return { kind: 'credential_ended' };
  const scopes = missingScopes(caller, operation);
  if (scopes.length > 0) return { kind: 'scope_missing', scopes };
  if (operationProblem(caller, operation)) return { kind: 'switched_off', operation };
  if (!isOwn && !reachesWholeAccount(caller)) return { kind: 'not_own' };
  const [problem] = limitProblems(caller, operation, items);
  return problem && { kind: 'over_own_limit', problem };
}

/** Reads a call and its requester, and returns the first rule that forbids the call now. See `brokenRule`. */
export async function readBrokenRule(
  tx: Prisma.TransactionClient,
  id: string,
  operation: OperationName,
  isOwn: boolean,
): Promise<BrokenRule | undefined> {
  const [requesters, items] = [await readRequesters(tx, [id]), await readRecordedItems(tx, [id])];
  return brokenRule(requesters.get(id), operation, items.get(id) ?? [], isOwn);
}

/** Returns how a caller uses the register of its client. */
export function registerRulesOf({ limits, blocksRecipients }: Caller): RegisterRules {
  const { beneficiariesOnly, beneficiaryCoolOffSeconds } = limits;
  return { beneficiariesOnly, beneficiaryCoolOffSeconds, blocksRecipients };
}
