import { isObject } from '../rules';
import { Answer } from './wire';

/** A success that says in its `data` what went wrong, as such services do (docs/reference/upstream.md, trap 2). */
export function withErrorInData(own: Answer, text: string): Answer {
  return rewritten(own, (envelope) => ({
    ...envelope,
    data: { ...(isObject(envelope.data) && envelope.data), error: text },
  }));
}

/** The same data in an error envelope. */
export function asErrorEnvelope(own: Answer, status: number, text: string): Answer {
  return { ...rewritten(own, ({ data }) => ({ status: 'error', error: text, data })), status };
}

/** What the operation turned down stays as it is. */
function rewritten(own: Answer, rewrite: (envelope: Record<string, unknown>) => object): Answer {
  const envelope: unknown = JSON.parse(own.body);
  if (!isObject(envelope) || envelope.status !== 'success') return own;
  return { ...own, body: JSON.stringify(rewrite(envelope)) };
}
