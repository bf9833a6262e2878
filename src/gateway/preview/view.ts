import { Decimal } from 'decimal.js';
import { ownerOf } from '../../access/auth/owner';
import { Limits } from '../../access/clients/limits/limits';
import { movesValue } from '../../operations/catalogue/catalogue';
import { paidName, totalOf } from '../../operations/items/item';
import { pointerIn } from '../../operations/items/items';
import { Problem } from '../../platform/errors/problem';
import { faultForCaller } from '../../platform/errors/problem-body';
import { Caps, reservationOf } from '../../policy/limits/caps';
import { HeldFor, Hold } from '../../policy/limits/holds';
import { Destinations } from '../forwarding/coverage/destinations';
import { ownLimitProblems } from '../forwarding/ownership/own-limits';
import { refusalOf } from '../may-pay/obstacle-problem';
import { EarlierPayment } from './earlier-payments';
import { PreviewFacts } from './facts';
import { duplicatesInside, itemCount, PositionedItem } from './positioned-items';
import {
  Preview,
  PreviewApproval,
  PreviewCap,
  PreviewCaps,
  PreviewDuplicate,
  PreviewFault,
  PreviewItem,
  PreviewLocalAmount,
  PreviewRefusal,
} from './preview.dto';

const ZERO = new Decimal(0);
const NO_CAPS: Caps = {
  dailyCapUsd: null,
  monthlyCapUsd: null,
  spentTodayUsd: ZERO,
  spentThisMonthUsd: ZERO,
};

/** Returns the preview of a request with these facts. */
export function toPreview(facts: PreviewFacts): Preview {
  const { call, body, positioned, request, dryRun, served, earlier, localAmounts } = facts;
  const { operation } = call;
  const replay = facts.replay instanceof Problem || facts.instance ? undefined : facts.replay;
  const problems = problemsOf(facts);
  const waits = dryRun.hold === null ? 'be_sent' : 'wait_for_approval';
  const stopped = dryRun.obstacles.find((obstacle) => obstacle.kind === 'stopped');
  return {
    would: replay ? 'be_replayed' : problems.length > 0 ? 'be_refused' : waits,
    refusal: toRefusal(problems),
    replay: replay ?? null,
    errors: toErrors(problems),
    errors_total: totalOfErrors(problems),
    item_count: itemCount(operation, body),
    total_usd: totalOf(request.items)?.toFixed() ?? null,
    fee_usd: dryRun.feeUsd?.toFixed() ?? null,
    coverage: served instanceof Destinations ? 'checked' : served,
    approval: replay ? null : toApproval(facts),
    caps: toCaps(
      dryRun.caps ?? NO_CAPS,
      replay || !movesValue(operation) ? ZERO : reservationOf({ usd: request.usd, feeUsd: dryRun.feeUsd }),
    ),
    stopped: stopped?.stop.reason ?? null,
    items: positioned.map((item) => toItem(item, served, localAmounts.get(item.position) ?? null)),
    duplicates: [...duplicatesInside(positioned), ...earlier.map(toDuplicate)],
  };
}

function toDuplicate({ position, callId, paidAt }: EarlierPayment): PreviewDuplicate {
  return { position, kind: 'seen_before', call_id: callId, paid_at: paidAt };
}

/** @param problems in the order in which they would reject the request. */
function toRefusal([first]: Problem[]): PreviewRefusal | null {
  if (!first) return null;
  const { status, code, action, message, faults, faultsTotal, firstCallId, firstCallState } = first;
  const repeats = {
    ...(firstCallId !== undefined && { first_call_id: firstCallId }),
    ...(firstCallState !== undefined && { first_call_state: firstCallState }),
  };
  return {
    status,
    code,
    action,
    detail: message,
    errors: faults.map(faultForCaller),
    errors_total: faultsTotal,
    ...repeats,
  };
}

/** A problem without a pointer concerns the whole body. */
function toErrors(problems: Problem[]): PreviewFault[] {
  return problems.flatMap(({ code, faults, message }) => {
    const all = faults.length > 0 ? faults : [{ pointer: '', detail: message }];
    return all.map((fault) => ({ code, ...faultForCaller(fault) }));
  });
}

/** Counts the errors, including those that are not listed. */
function totalOfErrors(problems: Problem[]): number {
  return problems.reduce((total, { faultsTotal }) => total + Math.max(1, faultsTotal), 0);
}

function toApproval(facts: PreviewFacts): PreviewApproval | null {
  const { call, dryRun } = facts;
  return (
    dryRun.hold && {
      reason: dryRun.hold.heldFor,
      threshold_usd: thresholdOf(dryRun.hold.heldFor, call.caller.limits)?.toFixed() ?? null,
      earlier_call_id: earlierCallOf(dryRun.hold, facts),
    }
  );
}

/** Hides the calls of others from a person. */
function earlierCallOf({ earlierCallId }: Hold, { call, earlier }: PreviewFacts): string | null {
  const isKnown = ownerOf(call).person === null || earlier.some(({ callId }) => callId === earlierCallId);
  return isKnown ? (earlierCallId ?? null) : null;
}

function thresholdOf(heldFor: HeldFor, limits: Limits): Decimal | null {
  if (heldFor === 'over_recipient_threshold') return limits.approvalOverRecipientDayUsd;
  if (heldFor === 'new_beneficiary' || heldFor === 'screening_review') return null;
  return heldFor === 'over_daily_threshold' ? limits.approvalOverDayUsd : limits.approvalOverUsd;
}

/** @param usd amount that would count on the caps. Null if unknown. */
function toCaps(caps: Caps, usd: Decimal | null): PreviewCaps {
  const { dailyCapUsd, monthlyCapUsd, spentTodayUsd, spentThisMonthUsd } = caps;
  return {
    daily: toCap(dailyCapUsd, spentTodayUsd, usd),
    monthly: toCap(monthlyCapUsd, spentThisMonthUsd, usd),
  };
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

function toItem(
  { position, item }: PositionedItem,
  served: Destinations | 'unchecked' | null,
  localAmount: PreviewLocalAmount | null,
): PreviewItem {
  const spelling =
    item.country !== null && served instanceof Destinations ? served.spellingOf(item.country) : null;
  return {
    position,
    recipient: paidName(item)?.key ?? null,
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
    ...(handleIgnored ? ['The item has an email and a handle. The email is used.'] : []),
    ...(paidWithoutAmount ? ['The item has no amount, so the total does not include it.'] : []),
  ];
}

/** Returns every error of a request, in the order in which the request itself would be rejected. */
function problemsOf(facts: PreviewFacts): Problem[] {
  const { call, positioned, replay, valueProblem, instance } = facts;
  const ofInstance = instance ? [refusalOf(instance, call)] : [];
  // A replay skips the other checks.
  if (replay !== undefined && !(replay instanceof Problem)) return ofInstance;
  const isFenced = instance?.kind === 'fenced';
  const [items, positions] = [positioned.map(({ item }) => item), positioned.map(({ position }) => position)];
  return [
    ...bodyProblems(facts),
    ...(isFenced ? ofInstance : []),
    ...facts.headerProblems,
    ...(replay ? [replay] : []),
    ...(valueProblem ? [valueProblem] : ownLimitProblems(call, items, positions)),
    ...coverageProblems(facts),
    ...(isFenced ? [] : ofInstance),
    ...obstacleProblems(facts),
  ];
}

function bodyProblems({ found }: PreviewFacts): Problem[] {
  return found.total === 0
    ? []
    : [new Problem('invalid_request', { faults: found.faults, faultsTotal: found.total })];
}

function obstacleProblems({ call, dryRun }: PreviewFacts): Problem[] {
  return dryRun.obstacles.flatMap((obstacle) => {
    // `replay` shows the first two, and the per-call rules show the third.
    if (obstacle.kind === 'repeated' || obstacle.kind === 'key_reused' || obstacle.kind === 'over_own_limit')
      return [];
    return [refusalOf(obstacle, call)];
  });
}

function coverageProblems({ call, positioned, served }: PreviewFacts): Problem[] {
  if (!(served instanceof Destinations)) return [];
  const pointer = pointerIn(call.operation);
  const faults = served.faultsIn(
    positioned.map(({ item }) => item),
    (index, field) => pointer(positioned[index]?.position ?? index, field),
  );
  return faults.length > 0 ? [new Problem('not_served', { faults })] : [];
}
