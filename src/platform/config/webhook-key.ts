/** What a secret of webhooks must hold at least (Standard Webhooks, "Signature scheme"). */
export const LEAST_WEBHOOK_KEY_BYTES = 24;

const BASE64_SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/** The key that a secret `whsec_<base64>` names, or the bytes of another one. */
export function webhookKeyOf(secret: string): Buffer {
  const encoded = BASE64_SECRET.exec(secret)?.[1];
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
}
