import { Problem } from './problem';

/** The interface's own envelope (interface.md, "Send result"), with our members beside it. */
export function toEnvelope(problem: Problem, callId: string) {
  return {
    status: 'error',
    error: textOf(problem, callId),
    code: problem.code,
    call_id: callId,
    ...(problem.firstCallId !== undefined && { first_call_id: problem.firstCallId }),
    ...(problem.firstCallState !== undefined && { first_call_state: problem.firstCallState }),
    ...(problem.faults.length > 0 && { errors: problem.faults }),
  };
}

/** RFC 9457 `application/problem+json`, with the same members. */
export function toProblemDetails(problem: Problem, callId: string) {
  return {
    type: 'about:blank',
    title: problem.code.replaceAll('_', ' '),
    status: problem.status,
    detail: textOf(problem, callId),
    code: problem.code,
    call_id: callId,
    ...(problem.firstCallId !== undefined && { first_call_id: problem.firstCallId }),
    ...(problem.firstCallState !== undefined && { first_call_state: problem.firstCallState }),
    ...(problem.faults.length > 0 && { errors: problem.faults }),
  };
}

function textOf({ message }: Problem, callId: string): string {
  return message.replaceAll('{call_id}', callId);
}
