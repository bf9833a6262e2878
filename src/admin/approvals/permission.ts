import { operationProblem } from '../../access/auth/allow';
import { Caller } from '../../access/auth/call';
import { CALLER_COLUMNS, CallerRow, callerOf } from '../../access/auth/caller-row';
import { OPENS } from '../../access/clients/key';
import { STATE, WITH_PARENT_AND_PERSON } from '../../access/ephemeral/state';
import { reachesWholeAccount } from '../../access/auth/owner';
import { Prisma } from '../../platform/database/generated/client';
import { Fault, Problem } from '../../platform/errors/problem';
import { limitProblems } from '../../gateway/forwarding/refusals';
import { OperationName, scopesOf } from '../../operations/catalogue';
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
  cap_exceeded: "it exceeds the client's limit for one item or one call",
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

/** Returns the ID of the key that a call was requested with. */
export function requestedWith(call: { key_id: string; ephemeral_key_id?: string | null | undefined }): string {
  return call.ephemeral_key_id ?? call.key_id;
}

/**
 * Reads the callers of keys, by {@link requestedWith}. Revoked and expired keys have none. An ephemeral key has the caller of
 * its parent until one of them is revoked. It expires before most approvals, and what it requested was allowed.
 */
export async function readCallers(tx: Prisma.TransactionClient, keys: string[]): Promise<Map<string, Caller>> {
  const rows = await tx.$queryRawUnsafe<(CallerRow & { requestedWith: string })[]>(
    `SELECT k.id::text AS "requestedWith", ${CALLER_COLUMNS} FROM api_key k JOIN client c ON c.id = k.client_id
     WHERE k.id = ANY ($1::uuid[]) AND ${OPENS}
     UNION ALL
     SELECT e.id::text, ${CALLER_COLUMNS} FROM ${WITH_PARENT_AND_PERSON} JOIN client c ON c.id = k.client_id
     WHERE e.id = ANY ($1::uuid[]) AND ${OPENS} AND ${STATE} <> 'revoked'`,
    keys,
  );
  return new Map(rows.map((row) => [row.requestedWith, callerOf(row)]));
}

/** Returns which of these calls were requested by tokens or ephemeral keys that were revoked since, with all of their person. */
export async function readRevoked(tx: Prisma.TransactionClient, callIds: string[]): Promise<Set<string>> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT i.id::text FROM intent i JOIN person p ON p.id = i.person_id
    WHERE i.id = ANY (${callIds}::uuid[]) AND p.revoked_at >= i.recorded_at
      AND i.record::json ->> 'actor_source' IN ('token', 'ephemeral')`;
  return new Set(rows.map(({ id }) => id));
}

/**
 * Finds the first rule that forbids a call of this client now: its key, its scope, the operation, whose the transaction is
 * that it names, or a limit of one call. The approval threshold does not count. `approveHeldCall` of the journal checks
 * caps, stops and the register of recipients.
 * @param caller the requester. Undefined if its key is no longer valid.
 * @param isOwn whether the call names no transaction of others (OwnershipService).
 */
export function brokenRule(
  caller: Caller | undefined,
  operation: OperationName,
  items: Limited[],
  isOwn: boolean,
): BrokenRule | undefined {
  if (!caller)
    return { code: 'key_revoked', detail: 'the key that made this request was revoked or has expired', faults: [] };
  const scopes = scopesOf(operation);
  const forbidden = operationProblem(caller, { operation, scopes });
  if (forbidden?.code === 'scope_missing') {
    const missing = scopes.filter((scope) => !caller.scopes.has(scope));
    return { code: forbidden.code, detail: `the client no longer has the scope ${missing.join(' and ')}`, faults: [] };
  }
  if (forbidden) return { code: forbidden.code, detail: `${operation} is switched off for the client`, faults: [] };
  if (!isOwn && !reachesWholeAccount(caller)) return NOT_OWN;
  // The limits of its person were checked when it was held. Their caps are checked again.
  const limits = { ...caller.limits, personMaxItemUsd: null };
  const [broken] = limitProblems({ limits }, operation, items);
  return broken && { code: broken.code, detail: WHY[broken.code] ?? broken.message, faults: broken.faults };
}

/** Returns the error for an approver of a call that breaks a rule now. */
export function noLongerAllowed({ code, detail, faults }: BrokenRule): Problem {
  if (code === 'key_revoked') return new Problem('key_revoked');
  const text = `The client may no longer do this (${code}): ${detail}. Nothing was sent, and the call is still pending. Change the client's permissions, or reject the call.`;
  return new Problem('no_longer_allowed', { text, faults });
}
