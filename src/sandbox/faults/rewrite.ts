import { isObject } from '../rules';
import { Answer } from './wire';

/**
 * Returns a success with an error text in its `data`, as such services send it (docs/reference/upstream.md, trap 2).
 */
export function withErrorInData(own: Answer, text: string): Answer {
  return rewritten(own, (envelope) => ({
    ...envelope,
    data: { ...(isObject(envelope.data) && envelope.data), error: text },
  }));
}

/** Returns the same data in an error envelope. */
export function asErrorEnvelope(own: Answer, status: number, text: string): Answer {
  return { ...rewritten(own, ({ data }) => ({ status: 'error', error: text, data })), status };
}

/** Leaves rejections of the operation unchanged. */
function rewritten(own: Answer, rewrite: (envelope: Record<string, unknown>) => object): Answer {
  const envelope: unknown = JSON.parse(own.body);
  if (!isObject(envelope) || envelope.status !== 'success') return own;
  return { ...own, body: JSON.stringify(rewrite(envelope)) };
}
