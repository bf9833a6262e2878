import { LyingProvider } from './lying-provider';
import { Cookies } from './provider/flow';
import { changed, open } from './signing-in';

/** The sign-in under attack: to the console, or to a client's pages. */
export interface AttackedSignIn {
  /** Begins a sign-in. @returns the address of the callback, which is not visited. */
  approach: (sub: string) => Promise<{ cookies: Cookies; callback: string }>;
  /** Cookies of its sessions, and of a sign-in in progress. */
  names: { session: string; transaction: string };
  /** Status of a successful callback. */
  done: number;
  /** Counts its sessions. */
  sessions: () => Promise<number>;
}

/**
 * Expects that a browser cannot finish another browser's sign-in: the attacker signs in as Bob, and sends the
 * callback to the victim.
 */
export async function expectNoLoginElsewhere({ approach, names, sessions }: AttackedSignIn): Promise<void> {
  const attacker = await approach('bob');
  const before = await sessions();
  for (const victim of [new Cookies(), (await approach('alice')).cookies]) {
    expect((await open(victim, attacker.callback)).status).toBe(400);
    expect(victim.values.has(names.session)).toBe(false);
  }
  expect(await sessions()).toBe(before);
}

/** Callbacks forged by one changed parameter. */
export const FORGED_CALLBACKS: [defect: string, parameters: Record<string, string | undefined>][] = [
  ['without a state', { state: undefined }],
  ['with another state', { state: 'x'.repeat(43) }],
  ['without its issuer', { iss: undefined }],
  ['with the issuer of another provider (mix-up)', { iss: 'https://evil.example' }],
  ['without a code', { code: undefined }],
];

export async function expectNoLoginBy(
  parameters: Record<string, string | undefined>,
  { approach, names }: AttackedSignIn,
): Promise<void> {
  const { cookies, callback } = await approach('alice');
  const { status, page } = await open(cookies, changed(callback, parameters));
  expect(status).toBe(400);
  expect(page).toContain('You are not signed in');
  expect(cookies.values.has(names.session)).toBe(false);
}

/** Expects that a callback signs in once, even if the cookie of the sign-in was stolen before. */
export async function expectNoSecondLogin({
  approach,
  names,
  done,
  sessions,
}: AttackedSignIn): Promise<void> {
  const { cookies, callback } = await approach('alice');
  const stolen = new Cookies();
  stolen.values.set(names.transaction, cookies.values.get(names.transaction) ?? '');
  expect((await open(cookies, callback)).status).toBe(done);
  const before = await sessions();
  expect((await open(cookies, callback)).status).toBe(400);
  expect((await open(stolen, callback)).status).toBe(403);
  expect(await sessions()).toBe(before);
}

/** Invalid logout tokens, as request bodies. */
export const FORGED_LOGOUTS = [
  '',
  'logout_token=',
  'logout_token=eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9.',
  'x',
];

/** Sends a logout token like a provider. @returns the status. */
export async function logOutWith(url: string, body: string): Promise<number> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return (await fetch(`${url}/session/backchannel-logout`, { method: 'POST', headers, body })).status;
}

/**
 * Signs in with an ID token made by the test from the nonce of the sign-in.
 * @param from start address of the sign-in.
 * @param redirectUri redirect target of the provider.
 */
export async function signInWithIdToken(
  provider: LyingProvider,
  { from, redirectUri }: { from: string; redirectUri: string },
  create: (nonce: string, code: string) => Promise<string> | string,
): Promise<{ status: number; cookies: Cookies }> {
  const cookies = new Cookies();
  const { location } = await open(cookies, from);
  const requested = new URL(location ?? '').searchParams;
  provider.idToken = (code) => create(requested.get('nonce') ?? '', code);
  const parameters = new URLSearchParams({
    code: 'code',
    state: requested.get('state') ?? '',
    iss: provider.issuer,
  });
  const { status } = await open(cookies, `${redirectUri}?${parameters.toString()}`);
  return { status, cookies };
}
