import { missingScopes, operationProblem } from '../../access/auth/route-access';
import { Caller } from '../../access/callers/caller';
import { reachesWholeAccount } from '../../access/auth/owner';
import { limitProblems } from '../../gateway/forwarding/own-limits';
import { obstacleProblem } from '../../gateway/may-pay/obstacle-problem';
import { BrokenRule } from '../../gateway/may-pay/obstacles';
import { RecordApproval } from '../../history/records/record.dto';
import { OperationName } from '../../operations/catalogue';
import { Problem } from '../../platform/errors/problem';
import { Limited } from '../../policy/limit-rules';

/**
 * Finds the first rule that forbids a call of this client now: its key, its scope, the operation, whose the transaction is
 * that it names, or a limit of one call, also of its person. The approval threshold does not count. `approveHeldCall` of the
 * journal checks caps, stops and the register of recipients.
 * @param caller the requester (`readRequesters`). Undefined if its key is no longer valid.
 * @param isOwn whether the call names no transaction of others (OwnershipService).
 */
export function brokenRule(
  caller: Caller | undefined,
  operation: OperationName,
  items: Limited[],
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

/** Returns the error for an approver of a call that does not wait for a decision any more. */
export function notPending(status: RecordApproval['status'] | undefined): Problem {
  return obstacleProblem({ kind: status === 'expired' ? 'expired' : 'decided' }, 'approver');
}

/**
 * Explains a failed decision. The commit may have succeeded although it was reported as failed. The call is then
 * approved and in doubt, and was not sent.
 */
export function decisionFailed(cause: unknown): never {
  const text =
    'The database of the proxy failed during the decision. Nothing was sent. Read the approval again before you decide.';
  throw new Problem('database_unavailable', { text, cause });
}
