import { Decimal } from 'decimal.js';
import { Limits } from '../../access/clients/limits';
import { Problem } from '../../platform/errors/problem';
import { Budget, HeldFor } from '../../policy/admission';
import { Served } from '../forwarding/coverage';
import { PositionedItem, recipientOf } from './positioned-items';
import {
  PreviewApproval,
  PreviewCap,
  PreviewCaps,
  PreviewFault,
  PreviewItem,
  PreviewLocalAmount,
  PreviewRefusal,
} from './preview.dto';

/** @param problems in the order in which a request is refused with them. */
export function toRefusal([first]: Problem[]): PreviewRefusal | null {
  if (!first) return null;
  const { status, code, action, message, faults, faultsTotal, firstCallId, firstCallState } = first;
  const repeats = {
    ...(firstCallId !== undefined && { first_call_id: firstCallId }),
    ...(firstCallState !== undefined && { first_call_state: firstCallState }),
  };
  return { status, code, action, detail: message, errors: faults, errors_total: faultsTotal, ...repeats };
}

/** A problem that is about no part of the body is about the whole. */
export function toErrors(problems: Problem[]): PreviewFault[] {
  return problems.flatMap(({ code, faults, message }) => {
    const all = faults.length > 0 ? faults : [{ pointer: '', detail: message }];
    return all.map((fault) => ({ code, ...fault }));
  });
}

/** How many there are, with those that are not listed. */
export function totalOfErrors(problems: Problem[]): number {
  return problems.reduce((total, { faultsTotal }) => total + Math.max(1, faultsTotal), 0);
}

export function toApproval(heldFor: HeldFor | null, { approvalOverUsd }: Limits): PreviewApproval | null {
  return heldFor && { reason: heldFor, threshold_usd: approvalOverUsd?.toFixed() ?? null };
}

/** @param usd what would count against the caps; null: that is not known. */
export function toCaps(budget: Budget, usd: Decimal | null): PreviewCaps {
  const { dailyCapUsd, monthlyCapUsd, spentTodayUsd, spentThisMonthUsd } = budget;
  return { daily: toCap(dailyCapUsd, spentTodayUsd, usd), monthly: toCap(monthlyCapUsd, spentThisMonthUsd, usd) };
}

function toCap(cap: Decimal | null, spent: Decimal, usd: Decimal | null): PreviewCap {
  const left = cap && Decimal.max(cap.minus(spent), 0);
  return {
    cap_usd: cap?.toFixed() ?? null,
    spent_usd: spent.toFixed(),
    left_usd: left?.toFixed() ?? null,
    left_after_usd: left && usd && left.minus(usd).toFixed(),
  };
}

export function toItem(
  { position, item }: PositionedItem,
  served: Served | 'unchecked' | null,
  localAmount: PreviewLocalAmount | null,
): PreviewItem {
  const spelling = item.country !== null && served instanceof Served ? served.spellingOf(item.country) : null;
  return {
    position,
    recipient: recipientOf(item),
    amount_usd: item.amountUsd?.toFixed() ?? null,
    country: spelling ?? item.country,
    network_code: item.networkCode,
    local_amount: localAmount,
    notes: notesOf(item),
  };
}

function notesOf({ handleIgnored, recipientField, amountUsd }: PositionedItem['item']): string[] {
  const paidWithoutAmount = recipientField !== null && amountUsd === null;
  return [
    ...(handleIgnored ? ['has an e-mail and a handle: the e-mail is used'] : []),
    ...(paidWithoutAmount ? ['names no amount: it is not in the total'] : []),
  ];
}
