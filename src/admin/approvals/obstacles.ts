import { forbiddenFaults, recipientFaults } from '../../gateway/forwarding/refusals';
import { RecordApproval } from '../../history/records/record.dto';
import { ApprovalObstacle } from '../../journal/decisions';
import { OperationName } from '../../operations/catalogue';
import { Problem } from '../../platform/errors/problem';
import { OverCap } from '../../policy/caps';
import { BrokenRule, noLongerAllowed } from './permission';

const EXPIRED =
  'This call has expired because nobody decided it in time. Nothing was sent. To pay, the requester must send it again.';

export const CIRCUIT_OPEN =
  'The payout service fails most requests of this operation at the moment. Nothing was sent, and the call is still pending. Approve it after Retry-After.';

/** Returns the error for an approver of a call that does not wait for a decision any more. */
export function notPending(status: RecordApproval['status'] | undefined): Problem {
  return status === 'expired' ? new Problem('approval_expired', { text: EXPIRED }) : new Problem('already_decided');
}

/** Returns the error for an approver of a pending call that an obstacle stops. */
export function obstacleProblem(
  obstacle: Exclude<ApprovalObstacle<BrokenRule>, { kind: 'decided' }>,
  operation: OperationName,
): Problem {
  switch (obstacle.kind) {
    case 'forbidden':
      return noLongerAllowed(obstacle.why);
    case 'maybe_paid':
      return new Problem('suspected_duplicate', {
        text: `The upstream has paid the same amount to the same recipient in a time whose records are lost: transaction ${obstacle.transaction}. It may be this call. Nothing was sent, and the call is still pending. Reject it if it was paid. Otherwise decide about the finding of that transaction first, then approve it.`,
      });
    case 'stopped':
      return new Problem('stopped', {
        text: `The operator has stopped this operation. Reason: ${obstacle.stop.reason}. Nothing was sent, and the call is still pending. Approve it when the stop is lifted.`,
      });
    case 'recipient_not_allowed':
      return new Problem('no_longer_allowed', {
        text: "The client may not pay a recipient of this call (recipient_not_allowed). Nothing was sent, and the call is still pending. Change the client's register, or reject the call.",
        faults: forbiddenFaults(obstacle, operation),
      });
    case 'over_cap': {
      const { of, period, capUsd, leftUsd } = obstacle;
      if (of === 'ephemeral_key') return overTotal(obstacle);
      const whose = of === 'person' ? "The requester's" : "The client's";
      return new Problem('cap_exceeded', {
        text: `${whose} ${period} cap is ${capUsd.toFixed()} US dollars, with ${leftUsd.toFixed()} US dollars left. Nothing was sent, and the call is still pending. Raise the cap, or approve the call on the next ${period === 'daily' ? 'day' : 'month'} (UTC).`,
      });
    }
    case 'unknown_payer':
      return new Problem('no_longer_allowed', {
        text: 'The database does not have the person of this call, whose caps it would count against. Nothing was sent, and the call is still pending. Reject it. To pay, the client must send it again.',
      });
    case 'over_recipient_cap':
      return new Problem('cap_exceeded', {
        text: `The client may pay ${obstacle.capUsd.toFixed()} US dollars to one recipient in a day (UTC). Nothing was sent, and the call is still pending. Raise the limit, or approve the call on the next day.`,
        faults: recipientFaults(obstacle, operation),
      });
  }
}

function overTotal({ capUsd, leftUsd }: OverCap): Problem {
  const text = `The ephemeral key of this call may pay ${capUsd.toFixed()} US dollars in all, with ${leftUsd.toFixed()} US dollars left. Nothing was sent, and the call is still pending. Reject it.`;
  return new Problem('cap_exceeded', { text });
}

/** Returns the error for an approver of a call whose recipients the screening service does not allow. */
export function screeningProblem(refusal: Problem): Problem {
  if (refusal.code !== 'screening_denied') {
    const text =
      'The recipients could not be screened. Nothing was sent, and the call is still pending. Approve it later.';
    return new Problem('screening_unavailable', { text });
  }
  return new Problem('no_longer_allowed', {
    text: 'The screening of recipients does not allow this call (screening_denied). Nothing was sent, and the call is still pending. Reject it.',
  });
}

/**
 * Explains a failed decision. The commit may have succeeded although it was reported as failed. The call is then
 * approved and in doubt, and was not sent.
 */
export function decisionFailed(cause: unknown): Problem {
  const text =
    'The database of the proxy failed during the decision. Nothing was sent. Read the approval again before you decide.';
  return new Problem('database_unavailable', { text, cause });
}
