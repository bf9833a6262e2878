import { NewUpstreamEvent } from '../../../journal/reconciliation/worker-tasks';
import { isObject } from '../../../platform/json/is-object';
import { parseJson } from '../answers/answer';
import { readAmount, readText } from '../answers/transactions';

/** The content of an event, with our names. */
type EventContent = Omit<NewUpstreamEvent, 'id' | 'account' | 'eventId' | 'signedAt'>;

/** Reads the body of an event (docs/reference/upstream.md, "Events"). Ignores other fields. Never throws. */
export function readEvent(body: Buffer): EventContent {
  const event = parseJson(body);
  const fields = isObject(event) ? event : {};
  const meta = isObject(fields.meta) ? fields.meta : {};
  return {
    eventType: readText(fields.eventType),
    batchRef: readText(fields.issueID),
    upstreamId: readText(meta.id),
    upstreamRef: readText(fields.chiRef),
    status: readText(fields.status),
    amountUsd: readAmount(fields.amount),
  };
}
