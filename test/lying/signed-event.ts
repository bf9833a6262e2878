import { createHmac, randomUUID } from 'node:crypto';
import { EventStep } from './schedule';
import type { Transaction } from './world';

/** Secret shared by the proxy and the upstream. */
export const EVENT_SECRET = 'shared-with-the-upstream';

/** Older than any signature that the proxy accepts, in seconds. */
const LATE_SECONDS = 3_600;

const STATUS = { right: 200, wrong: 401, none: 401, late: 400 };

/** Sends an event about a transaction to a proxy. Unsigned ones are refused. */
export async function sendEvent(
  proxyUrl: string,
  { id, issueID, chiRef }: Transaction,
  event: EventStep,
): Promise<void> {
  const { status, signature } = event;
  const body = JSON.stringify({ eventType: `transaction.${status}`, issueID, status, chiRef, meta: { id } });
  const eventId = randomUUID();
  const at = Math.floor(Date.now() / 1_000) - (signature === 'late' ? LATE_SECONDS : 0);
  const secret = signature === 'wrong' ? `not ${EVENT_SECRET}` : EVENT_SECRET;
  const mac = createHmac('sha256', secret).update(`${eventId}.${at}.${body}`).digest('base64');
  const response = await fetch(`${proxyUrl}/hooks/upstream`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'webhook-id': eventId,
      'webhook-timestamp': String(at),
      ...(signature !== 'none' && { 'webhook-signature': `v1,${mac}` }),
    },
    body,
  });
  if (response.status !== STATUS[signature]) {
    throw new Error(`an event with the signature ${signature} was answered ${response.status}`);
  }
}
