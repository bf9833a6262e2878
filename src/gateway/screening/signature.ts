import { createHmac } from 'node:crypto';
import { webhookKeyOf } from '../../platform/config/webhook-key';
import { clock } from '../../platform/database/clock';

/**
 * Returns headers that prove who sends a body: `v1,` and the base64 HMAC-SHA256 of `{id}.{timestamp}.{body}` (Standard
 * Webhooks, "Signature scheme"), as the upstream signs its events.
 */
export function signedHeaders(id: string, body: string, secret: string): Record<string, string> {
  const timestamp = String(Math.floor(clock.nowMs() / 1_000));
  const signature = createHmac('sha256', webhookKeyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
