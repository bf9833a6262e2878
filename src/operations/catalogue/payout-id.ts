import { isUuid } from '../../platform/database/uuid';

/** The place of a payout: its call, and its position in the body. */
export interface PayoutPlace {
  callId: string;
  position: number;
}

/** Returns the ID of a payout: the ID of its call, and its position. */
export function payoutIdOf(callId: string, position: number): string {
  return `${callId}.${position}`;
}

/** Reads the ID of a payout. The ID of a call names its first payout. Undefined for other text. */
export function readPayoutId(id: string): PayoutPlace | undefined {
  const [callId = '', position = '0', ...more] = id.toLowerCase().split('.');
  if (!isUuid(callId) || more.length > 0 || !/^\d{1,5}$/.test(position)) return undefined;
  return { callId, position: Number(position) };
}

/** The forms of our IDs in request fields. Each field has the form of its usual values. */
export const ID_FORMS = {
  /** A field for a reference. */
  plain: (id: string) => id,
  /** A field that people read. */
  sentence: (id: string) => `Ref ${id}`,
  /** A field for notes of the caller. */
  note: (id: string) => ({ reference: id }),
} as const satisfies Record<string, (id: string) => unknown>;

const SENTENCE = /^Ref ([0-9a-f-]{36})$/i;

/** Reads an ID in the form of a sentence or a note (`ID_FORMS`). An upstream may list it within notes. */
export function readWrittenId(value: unknown): string | null {
  if (typeof value === 'string') {
    const [, id = ''] = SENTENCE.exec(value) ?? [];
    return isUuid(id) ? id.toLowerCase() : null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { reference, description } = value as Record<string, unknown>;
  const isId = typeof reference === 'string' && readPayoutId(reference) !== undefined;
  return isId ? reference.toLowerCase() : typeof description === 'string' ? readWrittenId(description) : null;
}

/** SQL for the call ID in a reference, or null. The call exists only if `intent` has it. */
export const namedCallSql = (reference: string) =>
  `CASE WHEN ${reference} ~ ` +
  `'^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}([.][0-9]{1,5})?$' THEN ` +
  `left(${reference}, 36)::uuid END`;
