import { FastifyReply, FastifyRequest } from 'fastify';
import { signOutUrl } from './sign-out';

describe('signOutUrl', () => {
  const request = { call: { ownOrigin: 'https://payouts.example.com' } } as FastifyRequest;

  async function prepare(idToken: string, address: string | undefined) {
    const set: string[] = [];
    const reply = { header: (_name: string, value: string) => set.push(value) } as unknown as FastifyReply;
    const provider = { endSessionUrl: () => Promise.resolve(address) };
    const url = await signOutUrl(request, reply, provider, { client: 'wallet', idToken });
    return {
      url,
      value: Buffer.from(/=([\w-]*);/.exec(set[0] ?? '')?.[1] ?? '', 'base64url').toString(),
      set,
    };
  }

  it('hides the ID token from scripts', async () => {
    const cookie = await prepare('eyJhbGciOi', 'https://id.example.com/end');
    expect(cookie.url).toBe('https://payouts.example.com/session/sign-out');
    expect(JSON.parse(cookie.value)).toEqual({ client: 'wallet', idToken: 'eyJhbGciOi' });
    expect(cookie.set).toHaveLength(1);
    expect(cookie.set[0]).toMatch(
      /^__Host-payout_proxy_sign_out=[\w-]+; Max-Age=300; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
  });

  it('omits an ID token too large for a cookie', async () => {
    const cookie = await prepare('x'.repeat(4_000), 'https://id.example.com/end');
    expect(JSON.parse(cookie.value)).toEqual({ client: 'wallet' });
  });

  it('is null without a session at the provider', async () => {
    expect(await prepare('eyJhbGciOi', undefined)).toMatchObject({ url: null, set: [] });
  });
});
