import { textOf } from './access-token';
import { CompactJws, readCompactJws } from './compact-jws';
import { invalidToken } from './refusals';

/** An access token as a request has it, before it is verified. */
export interface SentToken {
  scheme: 'Bearer' | 'DPoP';
  token: string;
}

/** Returns the access token of the header `Authorization`. Undefined if the header has none, or another scheme. */
export function tokenIn(header: string | undefined): SentToken | undefined {
  const [, scheme = '', token = ''] = /^(bearer|dpop)(?: +(.*))?$/i.exec(header ?? '') ?? [];
  if (scheme === '') return undefined;
  return { scheme: scheme.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer', token };
}

/** Returns whether the header `Authorization` has an API key, with any scheme or none. */
export function isKey(header = ''): boolean {
  const [, encoded] = /^basic +(.*)/i.exec(header) ?? [];
  const text = encoded === undefined ? header : Buffer.from(encoded, 'base64').toString('latin1');
  return /(?:^|[ :])ppe?_/.test(text);
}

/** A token that was read, and not yet verified. */
export interface ReadToken extends CompactJws {
  issuer: string;
  clientId: string;
  subject: string;
}

/** Reads which provider, app and person a token names. @throws Problem `invalid_token` */
export function readToken(token: string): ReadToken {
  const jws = readCompactJws(token);
  if (!jws) throw invalidToken('it is not a JWT in the compact form');
  const { payload } = jws;
  return {
    ...jws,
    issuer: textOf(payload, 'iss'),
    clientId: textOf(payload, 'client_id'),
    subject: textOf(payload, 'sub'),
  };
}
