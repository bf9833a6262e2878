import { SignInIdentity } from '../../access/clients/sign-ins';
import { FailureKind, SignInFailure } from '../openid/sign-in-failure';
import { SignInPage } from './sign-in-page';

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
      'This sign-in was not begun in this browser, took longer than ten minutes, or was completed ' +
      'already. Nobody was signed in.',
    link: again,
  };
}

const FAILURES: Readonly<Record<FailureKind, Omit<SignInPage, 'link'> & { way: keyof NextSteps }>> = {
  not_configured: {
    status: 404,
    title: 'Sign in with a key',
    text: 'No OpenID provider is configured for this proxy. The console asks for a key instead.',
    way: 'back',
  },
  unreachable: {
    status: 503,
    title: 'The sign-in does not work now',
    text:
      'The OpenID provider cannot be reached or does not answer as it should. Try again in a moment. If ' +
      'it stays like this, tell the operator of the proxy.',
    way: 'again',
  },
  other_issuer: {
    status: 503,
    title: 'The sign-in does not work now',
    text:
      'The OpenID provider names itself otherwise than this proxy is told. The operator of the proxy sets ' +
      'OIDC_ISSUER, or page_issuer of the client, to the issuer exactly as the provider writes it.',
    way: 'again',
  },
  refused: {
    status: 403,
    title: 'The provider refused the sign-in',
    text:
      'The OpenID provider let nobody in, or does not accept the proxy as its client. Try again, or ask ' +
      'the operator of the provider.',
    way: 'again',
  },
  invalid: {
    status: 400,
    title: 'The sign-in could not be verified',
    text:
      'The answer does not belong to the sign-in that this browser has begun, or does not come from the ' +
      'OpenID provider. Nobody was signed in.',
    way: 'again',
  },
  too_weak: {
    status: 403,
    title: 'A stronger sign-in is required',
    text:
      'The OpenID provider did not ask for the proof that approving and administering require, such as a ' +
      'second factor. Ask its operator to set one up for you, then sign in again.',
    way: 'stronger',
  },
  no_database: {
    status: 503,
    title: 'The sign-in does not work now',
    text: 'The database of the proxy cannot be reached. Try again in a moment.',
    way: 'again',
  },
};

export function failurePage({ kind, error }: SignInFailure, ways: NextSteps): SignInPage {
  const { way, ...page } = FAILURES[kind];
  return {
    ...page,
    link: ways[way],
    ...(error !== undefined && { facts: { 'Reason of the provider': error } }),
  };
}

/** Returns the page for an unknown person, with the facts for the administrator. */
export function unknownPage({ issuer, subject }: SignInIdentity): SignInPage {
  return {
    status: 403,
    title: 'You have no access yet',
    text:
      'You signed in at the provider, but nobody has given you access to this proxy. Send an ' +
      'administrator the two lines below. They can let you in on the page Clients of the console.',
    facts: { Issuer: issuer, Subject: subject },
    link: CONSOLE_STEPS.again,
  };
}

export function wrongAddressPage({ again }: NextSteps): SignInPage {
  return {
    status: 403,
    title: 'Not from this address',
    text:
      'Your access is limited to other network addresses. Connect to the network of your company, then ' +
      'sign in again.',
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
