import { isObject } from '../../../platform/json/is-object';
import { parseJson } from './answer';
import { readText } from './transactions';

/** Reads the IDs of the sub-account in an answer: its own, and that of its user, which transfers name. */
export function subAccountIdsIn(body: Buffer): string[] {
  const envelope = parseJson(body);
  const data = isObject(envelope) ? envelope.data : undefined;
  return isObject(data) ? [readText(data.id), readText(data.uid)].filter((id) => id !== null) : [];
}
