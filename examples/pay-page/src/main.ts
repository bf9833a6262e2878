import { type BodyOf, type Payment, type PaymentResult, PayoutProxy } from '@payout-proxy/sdk';
import { SignIn } from './sign-in.ts';

type Body = BodyOf<'POST /payouts/airtime'>;

/** The payment that is not settled yet. It survives a reload, so that it is followed and never made twice. */
const STORED = 'payment';

interface Stored {
  key: string;
  body: Body;
}

const env = import.meta.env as Record<string, string>;
const signIn = new SignIn({
  issuer: env.VITE_ISSUER ?? '',
  clientId: env.VITE_CLIENT_ID ?? '',
  resource: env.VITE_RESOURCE ?? '',
  scope: 'openid pay read',
});
const client = new PayoutProxy({
  baseUrl: env.VITE_PROXY_URL ?? '',
  accessToken: signIn.accessToken,
  refresh: signIn.renew,
});

const element = <Kind extends HTMLElement>(id: string) => document.getElementById(id) as Kind;
const form = element<HTMLFormElement>('pay');

const WORDS: Record<PaymentResult['status'], string> = {
  succeeded: 'Paid',
  partially: 'Paid in part',
  rejected: 'Not paid',
  held: 'Waiting for an approval',
  unknown: 'Not known yet. Do not pay again: this page waits for the outcome',
  not_sent: 'Not paid. You can try again',
};

function show(result: PaymentResult): void {
  const reason = 'error' in result && result.settled && result.error ? `: ${result.error.message}` : '.';
  const status = element('status');
  status.textContent = `${WORDS[result.status]}${reason}`;
  status.dataset.status = result.status;
  status.dataset.settled = String(result.settled);
}

async function follow(payment: Payment): Promise<void> {
  form.inert = true;
  for await (const result of payment.follow()) show(result);
  localStorage.removeItem(STORED);
  form.inert = false;
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const text = (name: string) => (form.elements.namedItem(name) as HTMLInputElement).value;
  const body = { airtimes: [{ countryToSend: 'Kenya', phoneNumber: text('phone'), valueInUSD: text('usd') }] };
  const payment = client.payouts.airtime(body);
  localStorage.setItem(STORED, JSON.stringify({ key: payment.idempotencyKey, body } satisfies Stored));
  void follow(payment);
});

element('sign-in').addEventListener('click', () => void signIn.begin());

async function start(): Promise<void> {
  const isSignedIn = await signIn.complete();
  const stored = JSON.parse(localStorage.getItem(STORED) ?? 'null') as Stored | null;
  if (!isSignedIn && stored !== null) return signIn.begin();
  form.hidden = !isSignedIn;
  element('sign-in').hidden = isSignedIn;
  if (!isSignedIn || stored === null) return;
  await follow(client.payouts.airtime(stored.body, { idempotencyKey: stored.key }));
}

void start();
