import { AuthenticationError, type BodyOf, type Payment, type PaymentResult } from '@payout-proxy/sdk';
import { SessionSignIn } from './session.ts';
import type { SignIn } from './sign-in.ts';
import { TokenSignIn } from './tokens.ts';

type Body = BodyOf<'POST /payouts/airtime'>;

/** An open payment. It survives a reload, so that the page follows it and never makes it twice. */
interface OpenPayment {
  key: string;
  body: Body;
}

/** Returns the name of a person's payment in localStorage. A payment is continued only for its person. */
const storageKeyOf = (person: string) => `payment of ${person}`;

const env = import.meta.env as Record<string, string>;
const baseUrl = env.VITE_PROXY_URL ?? location.origin;
const signIn: SignIn = env.VITE_PROXY_CLIENT
  ? new SessionSignIn(baseUrl, env.VITE_PROXY_CLIENT)
  : new TokenSignIn(baseUrl, {
      issuer: env.VITE_ISSUER ?? '',
      clientId: env.VITE_CLIENT_ID ?? '',
      resource: env.VITE_RESOURCE ?? '',
      scope: 'openid pay read',
    });

const element = <Kind extends HTMLElement>(id: string) => document.getElementById(id) as Kind;
const form = element<HTMLFormElement>('pay');
const status = element('status');

const WORDS: Record<PaymentResult['status'], string> = {
  succeeded: 'Paid',
  partially: 'Paid in part',
  rejected: 'Not paid',
  held: 'Waiting for an approval',
  queued: 'Waiting to be sent',
  in_progress: 'Being sent',
  unknown: 'Unknown yet. Do not pay again: this page waits for the outcome',
  not_sent: 'Not paid. You can try again',
};

function show(result: PaymentResult): void {
  const reason = 'error' in result && result.settled && result.error ? `: ${result.error.message}` : '.';
  status.textContent = `${WORDS[result.status]}${reason}`;
  status.dataset.status = result.status;
  status.dataset.settled = String(result.settled);
}

/** Shows a failure, such as an unreachable proxy. The payment stays stored, and a reload continues it. */
function showFailure(error: Error): void {
  status.textContent = error.message;
}

function showSignedIn(isSignedIn: boolean): void {
  form.hidden = !isSignedIn;
  element('sign-in').hidden = isSignedIn;
  element('sign-out').hidden = !isSignedIn || signIn.end === undefined;
}

/** Shows the state of a payment until it is settled. After a sign-in, the payment continues. */
async function follow(payment: Payment, person: string): Promise<void> {
  form.inert = true;
  try {
    for await (const result of payment.follow()) {
      show(result);
      if ('error' in result && result.error instanceof AuthenticationError) throw result.error;
    }
    localStorage.removeItem(storageKeyOf(person));
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
    status.textContent = `Sign in to continue this payment: ${error.message}`;
    showSignedIn(false);
  }
  form.inert = false;
}

async function start(): Promise<void> {
  const person = await signIn.visitor();
  showSignedIn(person !== undefined);
  if (person === undefined) return;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = (name: string) => (form.elements.namedItem(name) as HTMLInputElement).value;
    const body = {
      airtimes: [{ countryToSend: 'Kenya', phoneNumber: text('phone'), valueInUSD: text('usd') }],
    };
    const payment = signIn.client.payouts.airtime(body);
    const open: OpenPayment = { key: payment.idempotencyKey, body };
    localStorage.setItem(storageKeyOf(person), JSON.stringify(open));
    follow(payment, person).catch(showFailure);
  });
  const stored = JSON.parse(localStorage.getItem(storageKeyOf(person)) ?? 'null') as OpenPayment | null;
  if (stored)
    await follow(signIn.client.payouts.airtime(stored.body, { idempotencyKey: stored.key }), person);
}

element('sign-in').addEventListener('click', () => void signIn.begin());
element('sign-out').addEventListener('click', () => void signIn.end?.());

start().catch(showFailure);
