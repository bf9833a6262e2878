import { isObject } from '../../json/is-object';
import { readStrictJson } from '../../json/strict-json';
import { rule } from '../environment/environment-rules';
import { Secret } from './secret';

/**
 * Client secrets at the providers of pages, by issuer and client ID. A secret is bound to its issuer, so a
 * change of a client's provider does not leak it.
 */
type PageSecrets = Record<string, Record<string, string>>;

const MUST =
  '$property must be a JSON object of secrets by issuer and client ID, such as ' +
  '{"https://id.example.com":{"wallet-pages":"…"}}';

export const ArePageSecrets = () =>
  rule('arePageSecrets', (text: unknown) => read(String(text)) !== undefined, MUST);

/** Returns the secret of a client at a provider. Undefined if unset. */
export function pageSecretIn(
  secrets: Secret | undefined,
  issuer: string,
  clientId: string,
): Secret | undefined {
  const ofIssuer = own(secrets && read(secrets.reveal()), issuer);
  const secret = own(ofIssuer, clientId);
  return secret === undefined ? undefined : new Secret(secret);
}

function read(text: string): PageSecrets | undefined {
  try {
    const value = readStrictJson(text);
    return isObject(value) && Object.values(value).every(areSecrets) ? (value as PageSecrets) : undefined;
  } catch {
    return undefined;
  }
}

function areSecrets(value: unknown): boolean {
  const isSecret = (secret: unknown) => typeof secret === 'string' && /^[\x21-\x7e]{1,1000}$/.test(secret);
  return isObject(value) && Object.values(value).every(isSecret);
}

/** Returns an own member of a JSON object, and no inherited one. */
function own<Value>(object: Record<string, Value> | undefined, name: string): Value | undefined {
  return object && Object.hasOwn(object, name) ? object[name] : undefined;
}
