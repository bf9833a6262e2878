/** The least number of bytes of a webhook secret (Standard Webhooks, "Signature scheme"). */
export const LEAST_WEBHOOK_KEY_BYTES = 24;

const BASE64_SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/** Returns the key of a webhook secret: the decoded bytes of `whsec_<base64>`, or the bytes of any other secret. */
export function webhookKeyOf(secret: string): Buffer {
  const encoded = BASE64_SECRET.exec(secret)?.[1];
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
}
