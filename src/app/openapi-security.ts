import { OpenAPIObject } from '@nestjs/swagger';
import { PAGE_SESSION_ROUTE } from '../access/auth/authenticate';
import { CONSOLE_COOKIE, PAGE_COOKIE_PREFIX } from '../access/sessions/cookies';
import { SCOPES } from '../operations/catalogue/scopes';
import { Route } from './routes';

type Schemes = NonNullable<NonNullable<OpenAPIObject['components']>['securitySchemes']>;

const CSRF =
  'A request that changes something also sends the header `X-CSRF-Token`, with the `csrf_token` of the ' +
  'session.';

/** The credentials of a caller (src/access/auth/authenticate.ts). */
export const CREDENTIALS = {
  key: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'A key of your client, or an ephemeral key of a person.',
  },
  access_token: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'An access token (RFC 9068) of a person, from the identity provider of your client.',
  },
  bound_access_token: {
    type: 'http',
    scheme: 'DPoP',
    description: 'An access token that is bound to a key pair. The header `DPoP` has the proof (RFC 9449).',
  },
  page_session: {
    type: 'apiKey',
    in: 'cookie',
    name: `${PAGE_COOKIE_PREFIX}{client}`,
    description:
      `The session of a person on a page of your client. Open \`/session/pages/{client}/sign-in\` to ` +
      `begin one. Every request except the read of the session also sends the header \`X-CSRF-Token\`, ` +
      `with the \`csrf_token\` of the session. Over HTTPS, the name of the cookie begins with \`__Host-\`.`,
  },
  console_session: {
    type: 'apiKey',
    in: 'cookie',
    name: CONSOLE_COOKIE.name,
    description:
      `The session of an operator or auditor in the console. ${CSRF} Over HTTPS, the name of the cookie ` +
      `begins with \`__Host-\`.`,
  },
} as const satisfies Schemes;

type Requirement = Partial<Record<keyof typeof CREDENTIALS, string[]>>;

const anyOf = (...names: (keyof typeof CREDENTIALS)[]): Requirement[] =>
  names.map((name) => ({ [name]: [] }));

/** Returns the credentials that open a route. Each of them is enough. */
export function securityOf({ path, scopes, isForApps, needsSecretKey }: Route): Requirement[] {
  if (scopes.includes('everyone')) return [];
  if (needsSecretKey) return anyOf('key');
  if (`/${path}` === PAGE_SESSION_ROUTE) return anyOf('page_session');
  if (isForApps) return anyOf('key', 'access_token', 'bound_access_token', 'page_session');
  return anyOf('key', 'console_session');
}

/** Returns the scopes that open a route, as its description states them. Empty if no scope does, or any. */
export function scopesText({ scopes, needsAll }: Route): string {
  if (scopes.includes('everyone') || scopes.length === SCOPES.length) return '';
  const list = new Intl.ListFormat('en-GB', { type: needsAll ? 'conjunction' : 'disjunction' });
  return (
    `${needsAll && scopes.length > 1 ? 'Scopes' : 'Scope'} ` +
    `${list.format(scopes.map((scope) => `\`${scope}\``))}.`
  );
}
