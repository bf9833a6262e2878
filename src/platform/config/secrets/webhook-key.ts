/** Minimum length of a webhook secret in bytes (Standard Webhooks, "Signature scheme"). */
export const LEAST_WEBHOOK_KEY_BYTES = 24;

const PREFIX = 'whsec_';

/** Returns the key of a webhook secret: the decoded base64 after `whsec_`, or the bytes of other text. */
export function webhookKeyOf(secret: string): Buffer {
  return secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret);
}

/** Returns whether base64 follows `whsec_`. Libraries disagree about the key of any other text. */
export function isWebhookSecret(secret: string): boolean {
  if (!secret.startsWith(PREFIX)) return true;
  const encoded = secret.slice(PREFIX.length);
  const canonical = webhookKeyOf(secret).toString('base64');
  return encoded !== '' && [canonical, canonical.replace(/=+$/, '')].includes(encoded);
}
