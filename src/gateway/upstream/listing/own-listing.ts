import { writeExactJson } from '../../../platform/json/exact-json';
import { isObject } from '../../../platform/json/is-object';
import { parseJson } from '../answers/answer';

/** The members of an envelope that name no transaction. */
const ENVELOPE = ['status', 'error', 'type', 'code', 'message'] as const;

/** Returns the transactions in an answer, in its order. Never throws on any bytes. */
export function listedIn(body: Buffer): unknown[] {
  const envelope = parseJson(body);
  const data = isObject(envelope) ? envelope.data : undefined;
  if (Array.isArray(data)) return data as unknown[];
  if (!isObject(data)) return [];
  return [data.data, data.credits].filter((list) => Array.isArray(list)).flat() as unknown[];
}

/**
 * Returns an answer with only some of its transactions. Omits everything else that could reveal others:
 * unknown members, and an answer without an envelope.
 */
export function withListed(body: Buffer, isKept: (transaction: unknown) => boolean): Buffer {
  const envelope = parseJson(body);
  const shown = isObject(envelope) ? textsOf(envelope, ENVELOPE) : {};
  if (isObject(envelope) && 'data' in envelope) shown.data = dataOf(envelope.data, isKept);
  return Buffer.from(writeExactJson(shown));
}

function dataOf(data: unknown, isKept: (transaction: unknown) => boolean): unknown {
  const kept = (list: unknown) => (Array.isArray(list) ? (list as unknown[]).filter(isKept) : undefined);
  if (!isObject(data)) return kept(data) ?? [];
  // JSON omits an undefined list.
  return { ...textsOf(data, ['error']), data: kept(data.data), credits: kept(data.credits) };
}

function textsOf(value: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.filter((name) => typeof value[name] === 'string').map((name) => [name, value[name]]),
  );
}
