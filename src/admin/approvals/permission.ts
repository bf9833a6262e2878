import { missingScopes, operationProblem } from '../../access/auth/allow';
import { Caller } from '../../access/callers/caller';
import { reachesWholeAccount } from '../../access/auth/owner';
import { Fault, Problem } from '../../platform/errors/problem';
import { limitProblems } from '../../gateway/forwarding/refusals';
import { OperationName } from '../../operations/catalogue';
import { Limited } from '../../policy/limit-rules';

/** A rule that a held call breaks now, whatever applied when it was requested. */
export interface BrokenRule {
  /** The error code that the client would get if it sent the request now. */
  code: Problem['code'];
  detail: string;
  faults: Fault[];
}

/** Why a limit of one call forbids a held call, by the error code of the limit. */
const WHY: Partial<Record<Problem['code'], string>> = {
  too_many_items: 'it has more items than the client may send in one call',
  country_not_allowed: 'it pays to a country that the client may not pay to',
  amount_required: 'an item states no amount, and the client has a limit in US dollars',
  cap_exceeded: 'it exceeds a limit of the client or of its person for one item or one call',
};

/** A call that was restored from a copy cannot be sent. `requireUnchanged` refuses its approval. */
export const CONTENT_LOST: BrokenRule = {
  code: 'content_lost',
  detail: 'it was restored from a copy that does not have its content',
  faults: [],
};

const NOT_OWN: BrokenRule = {
  code: 'object_not_found',
  detail: 'no call of the client made the transaction that it names, and the client does not have the scope account',
  faults: [],
};

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
  if (!caller)
    return {
      code: 'key_revoked',
      detail: 'the credentials that made this request were revoked or have expired',
      faults: [],
    };
  const missing = missingScopes(caller, operation).join(' and ');
  if (missing) return { code: 'scope_missing', detail: `the client no longer has the scope ${missing}`, faults: [] };
  const forbidden = operationProblem(caller, operation);
  if (forbidden) return { code: forbidden.code, detail: `${operation} is switched off for the client`, faults: [] };
  if (!isOwn && !reachesWholeAccount(caller)) return NOT_OWN;
  const [broken] = limitProblems(caller, operation, items);
  return broken && { code: broken.code, detail: WHY[broken.code] ?? broken.message, faults: broken.faults };
}

/** Returns the error for an approver of a call that breaks a rule now. */
export function noLongerAllowed({ code, detail, faults }: BrokenRule): Problem {
  if (code === 'key_revoked') return new Problem('key_revoked');
  const text = `The client may no longer do this (${code}): ${detail}. Nothing was sent, and the call is still pending. Change what the client or its person may do, or reject the call.`;
  return new Problem('no_longer_allowed', { text, faults });
}
