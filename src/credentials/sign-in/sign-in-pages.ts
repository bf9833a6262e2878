import { randomBytes } from 'node:crypto';
import { FastifyReply } from 'fastify';
import { SignInIdentity } from '../../access/clients/sign-ins';
import { FailureKind, SignInFailure } from '../openid/sign-in-failure';

/** A page that a browser shows during a sign-in. */
export interface SignInPage {
  status: number;
  title: string;
  /** The event, and the remedy. */
  text: string;
  /** Facts for the operator, by name. */
  facts?: Record<string, string>;
  /** The link of the page. */
  link?: { to: string; label: string };
  /** Whether the page follows the link automatically. */
  isFollowed?: boolean;
}

type Link = NonNullable<SignInPage['link']>;

/** Next steps after a failed sign-in. */
export interface NextSteps {
  again: Link;
  /** Retry with a stronger sign-in. */
  stronger: Link;
  back: Link;
}

export const CONSOLE_STEPS: NextSteps = {
  again: { to: '/session/sign-in', label: 'Sign in again' },
  stronger: { to: '/session/sign-in?step_up=1', label: 'Sign in again' },
  back: { to: '/console', label: 'To the console' },
};

/** Returns the page for a sign-in that this browser did not begin. */
export function notBegunPage({ again }: NextSteps): SignInPage {
  return {
    status: 400,
    title: 'Sign in again',
    text:
      'This sign-in was begun in another browser, took longer than ten minutes, or is complete already. ' +
      'You are not signed in.',
    link: again,
  };
}

const FAILURES: Readonly<Record<FailureKind, Omit<SignInPage, 'link'> & { nextStep: keyof NextSteps }>> = {
  not_configured: {
    status: 404,
    title: 'Sign in with a key',
    text: 'No OpenID provider is configured for this proxy. The console asks for a key instead.',
    nextStep: 'back',
  },
  unreachable: {
    status: 503,
    title: 'Sign-in is temporarily unavailable',
    text:
      'The OpenID provider is unreachable, or its answer is unusable. Try again in a moment. ' +
      'If this continues, tell the operator of the proxy.',
    nextStep: 'again',
  },
  other_issuer: {
    status: 503,
    title: 'Sign-in is temporarily unavailable',
    text:
      "The provider's issuer differs from OIDC_ISSUER, or from page_issuer of the client. " +
      'Ask the operator of the proxy to set it exactly as the provider writes it.',
    nextStep: 'again',
  },
  refused: {
    status: 403,
    title: 'The provider refused the sign-in',
    text:
      'The OpenID provider refused you, or does not accept the proxy as its client. ' +
      'Try again, or ask the operator of the provider.',
    nextStep: 'again',
  },
  invalid: {
    status: 400,
    title: 'The sign-in could not be verified',
    text:
      'The answer belongs to another sign-in, or does not come from the OpenID provider. ' +
      'You are not signed in.',
    nextStep: 'again',
  },
  too_weak: {
    status: 403,
    title: 'A stronger sign-in is required',
    text:
      'Approving and administering require a stronger proof, such as a second factor. ' +
      'Ask the operator of the OpenID provider to set one up for you, then sign in again.',
    nextStep: 'stronger',
  },
  no_database: {
    status: 503,
    title: 'Sign-in is temporarily unavailable',
    text: 'The database of the proxy is unreachable. Try again in a moment.',
    nextStep: 'again',
  },
};

export function failurePage({ kind, error }: SignInFailure, nextSteps: NextSteps): SignInPage {
  const { nextStep, ...page } = FAILURES[kind];
  return {
    ...page,
    link: nextSteps[nextStep],
    ...(error !== undefined && { facts: { 'Reason of the provider': error } }),
  };
}

/** Returns the page for an unknown person, with the facts for the administrator. */
export function unknownPage({ issuer, subject }: SignInIdentity): SignInPage {
  return {
    status: 403,
    title: 'You have no access yet',
    text:
      'You signed in at the provider, but you have no access to this proxy. Send the two lines below to ' +
      'an administrator, who can add you on the page Clients of the console.',
    facts: { Issuer: issuer, Subject: subject },
    link: CONSOLE_STEPS.again,
  };
}

export function wrongAddressPage({ again }: NextSteps): SignInPage {
  return {
    status: 403,
    title: 'Not from this address',
    text:
      'Your access is limited to other network addresses. ' +
      'Connect to the network of your company, then sign in again.',
    link: again,
  };
}

export function signedInPage(to: string): SignInPage {
  return {
    status: 200,
    title: 'Signed in',
    text: 'You are signed in.',
    link: { to, label: 'Continue' },
    isFollowed: true,
  };
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;margin:0;display:grid;place-items:center}
body{min-height:100vh;background:#f8f9fa;color:#212529}
main{max-width:26rem;margin:1rem;padding:2rem;background:#fff;border:1px solid #dee2e6;border-radius:8px}
h1{font-size:1.4rem;margin:0 0 .5rem}dt{font-weight:600}dd{margin:0 0 .5rem;overflow-wrap:anywhere}
a{color:#1864ab}@media(prefers-color-scheme:dark){body{background:#1a1b1e;color:#c9c9c9}
main{background:#25262b;border-color:#424242}a{color:#74c0fc}}`;

/** Sends a page without scripts and without a referrer. */
export function sendPage(reply: FastifyReply, page: SignInPage): FastifyReply {
  const nonce = randomBytes(16).toString('base64');
  const policy =
    `default-src 'none'; style-src 'nonce-${nonce}'; img-src data:; base-uri 'none'; form-action 'none'; ` +
    `frame-ancestors 'none'`;
  return reply
    .status(page.status)
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', policy)
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-opener-policy', 'same-origin')
    .header('cache-control', 'no-store')
    .send(htmlOf(page, nonce));
}

function htmlOf({ title, text, facts = {}, link, isFollowed = false }: SignInPage, nonce: string): string {
  const terms = Object.entries(facts).map(
    ([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`,
  );
  const list = terms.length > 0 ? `<dl>${terms.join('')}</dl>` : '';
  // The next request then comes from this site, with the session's cookie, which is SameSite=Strict.
  const refresh = isFollowed && link ? `<meta http-equiv="refresh" content="0;url=${escaped(link.to)}">` : '';
  const anchor = link ? `\n<p><a href="${escaped(link.to)}">${escaped(link.label)}</a></p>` : '';
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">${refresh}
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,"><title>${escaped(title)} · payout-proxy</title>
<style nonce="${nonce}">${STYLE}</style></head>
<body><main><h1>${escaped(title)}</h1><p>${escaped(text)}</p>${list}${anchor}</main></body></html>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
