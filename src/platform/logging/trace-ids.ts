import { LRUCache } from 'lru-cache';

/** Cache size. Far above the calls in flight. Lines are also written after the answer of a call. */
const MOST_CALLS = 10_000;

/** The trace of each call that came with a `traceparent`, by the ID of the call. */
const traces = new LRUCache<string, string>({ max: MOST_CALLS });

/** @param traceparent W3C Trace Context, version 00, checked. */
export function rememberTrace(callId: string, traceparent: string): void {
  traces.set(callId, traceparent.slice(3, 35));
}

/** Adds the trace of a call to a log line with its ID. */
export function withTraceId(line: Record<string, unknown>): Record<string, unknown> {
  const traceId = typeof line.call_id === 'string' ? traces.get(line.call_id) : undefined;
  return traceId === undefined ? line : { ...line, trace_id: traceId };
}
