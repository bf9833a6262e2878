import { Fault, Problem } from './problem';

/** Returns the error in the interface's envelope (docs/reference/upstream.md, "Responses"). */
export function toEnvelope(problem: Problem, callId: string) {
  return { status: 'error', ...membersOf(problem, callId) };
}

/** Returns the error as RFC 9457 `application/problem+json`, with the same members. */
export function toProblemDetails(problem: Problem, callId: string) {
  return {
    type: 'about:blank',
    title: problem.code.replaceAll('_', ' '),
    status: problem.status,
    detail: textOf(problem, callId),
    ...membersOf(problem, callId),
  };
}

/** Returns the members of every error, in any format. */
function membersOf(problem: Problem, callId: string) {
  const { code, action, firstCallId, firstCallState, faults, faultsTotal } = problem;
  return {
    error: [textOf(problem, callId), firstFault(problem)].filter(Boolean).join(' '),
    code,
    action,
    call_id: callId,
    ...(firstCallId !== undefined && { first_call_id: firstCallId }),
    ...(firstCallState !== undefined && { first_call_state: firstCallState }),
    ...(faults.length > 0 && { errors: faults.map(faultForCaller), errors_total: faultsTotal }),
  };
}

/** Returns a fault for its caller, with its suggestion. */
export function faultForCaller({ pointer, detail, suggestion }: Fault): Pick<Fault, 'pointer' | 'detail'> {
  return { pointer, detail: suggestion === undefined ? detail : `${detail}. Did you mean ${suggestion}?` };
}

function textOf({ message }: Problem, callId: string): string {
  return message.replaceAll('{call_id}', callId);
}

/** Returns the first fault as a sentence for `error`: "airtimes/0/phoneNumber: must be text (and 2 more)." */
function firstFault({ faults: [first], faultsTotal }: Problem): string {
  if (!first) return '';
  const { pointer, detail } = faultForCaller(first);
  const place =
    pointer === '' ? detail.charAt(0).toUpperCase() + detail.slice(1) : `${pointer.slice(1)}: ${detail}`;
  const sentence = `${place}${faultsTotal > 1 ? ` (and ${faultsTotal - 1} more)` : ''}`;
  return sentence.endsWith('?') ? sentence : `${sentence}.`;
}
