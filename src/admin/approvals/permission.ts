import { Decimal } from 'decimal.js';
import { operationProblem } from '../../access/auth/allow';
import { Caller } from '../../access/auth/call';
import { CALLER_COLUMNS, CallerRow, callerOf, OPENS } from '../../access/auth/callers.service';
import { Prisma } from '../../platform/database/generated/client';
import { Fault, Problem } from '../../platform/errors/problem';
import { limitProblems } from '../../gateway/forwarding/refusals';
import { OperationName, scopesOf } from '../../operations/catalogue';
import { Limited } from '../../policy/limit-rules';

/** A rule that a held call breaks now, whatever held when it was asked for. */
export interface BrokenRule {
  /** The code with which the client would be refused if it asked now. */
  code: Problem['code'];
  detail: string;
  faults: Fault[];
}

/** Why a limit of one call forbids a held call, by the code of the limit. */
const WHY: Partial<Record<Problem['code'], string>> = {
  too_many_items: 'it has more items than the client may send in one call',
  country_not_allowed: 'it pays to a country that the client may not pay to',
  amount_required: 'an item names no amount, and the client has a limit in US dollars',
  cap_exceeded: "it is over the client's limit for one item or for one call",
};

/** The callers whom these keys open the door to now; a key that was revoked or has expired opens it to nobody. */
export async function readCallers(tx: Prisma.TransactionClient, keyIds: string[]): Promise<Map<string, Caller>> {
  const rows = await tx.$queryRawUnsafe<CallerRow[]>(
    `SELECT ${CALLER_COLUMNS} FROM api_key k JOIN client c ON c.id = k.client_id WHERE k.id = ANY ($1::uuid[]) AND ${OPENS}`,
    keyIds,
  );
  return new Map(rows.map((row) => [row.keyId, callerOf(row)]));
}

/** The items of held calls as they were recorded, by call. An amount that the request did not name itself is among them. */
export async function readLimitedItems(tx: Prisma.TransactionClient, ids: string[]): Promise<Map<string, Limited[]>> {
  const rows = await tx.intentItem.findMany({
    where: { intentId: { in: ids } },
    orderBy: [{ intentId: 'asc' }, { position: 'asc' }],
    select: { intentId: true, amountUsd: true, country: true, recipientField: true, upstreamRef: true },
  });
  const items = new Map<string, Limited[]>(ids.map((id) => [id, []]));
  for (const { intentId, amountUsd, recipientField, ...item } of rows) {
    items.get(intentId)?.push({
      ...item,
      amountUsd: amountUsd && new Decimal(amountUsd.toFixed()),
      recipientField: recipientField as Limited['recipientField'],
    });
  }
  return items;
}

/**
 * The first rule that forbids a call of this client now: its key, its scope, the operation, or a limit of one call. The
 * approval threshold is no such rule, nor are caps and stops, which `approveHeldCall` of the journal judges.
 * @param caller who asked; undefined: the key opens nothing any more.
 */
export function brokenRule(
  caller: Caller | undefined,
  operation: OperationName,
  items: Limited[],
): BrokenRule | undefined {
  if (!caller)
    return { code: 'key_revoked', detail: 'the key that asked for it was revoked or has expired', faults: [] };
  const scopes = scopesOf(operation);
  const forbidden = operationProblem(caller, { operation, scopes });
  if (forbidden?.code === 'scope_missing') {
    const missing = scopes.filter((scope) => !caller.scopes.has(scope));
    return { code: forbidden.code, detail: `the client no longer has the scope ${missing.join(' and ')}`, faults: [] };
  }
  if (forbidden) return { code: forbidden.code, detail: `${operation} is switched off for the client`, faults: [] };
  const [broken] = limitProblems(caller, operation, items);
  return broken && { code: broken.code, detail: WHY[broken.code] ?? broken.message, faults: broken.faults };
}

/** The answer to who approves a call that breaks a rule now. */
export function noLongerAllowed({ code, detail, faults }: BrokenRule): Problem {
  if (code === 'key_revoked') return new Problem('key_revoked');
  const text = `The client may not do this any more (${code}): ${detail}. Nothing was sent and it still waits. Change what the client may do, or reject it.`;
  return new Problem('no_longer_allowed', { text, faults });
}
