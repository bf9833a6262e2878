import { isUuid } from '../platform/database/uuid';

/** The place of a payout: its call, and its position in the body. */
export interface PayoutPlace {
  callId: string;
  position: number;
}

/** Returns the ID of a payout: the ID of its call, and its position. */
export function payoutIdOf(callId: string, position: number): string {
  return `${callId}.${position}`;
}

/** Reads the ID of a payout. The ID of a call stands for its first payout. Undefined if it is neither. */
export function readPayoutId(id: string): PayoutPlace | undefined {
  const [callId = '', position = '0', ...more] = id.toLowerCase().split('.');
  if (!isUuid(callId) || more.length > 0 || !/^\d{1,5}$/.test(position)) return undefined;
  return { callId, position: Number(position) };
}
