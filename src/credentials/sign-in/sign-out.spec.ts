import { FastifyReply, FastifyRequest } from 'fastify';
import { signOutUrl } from './sign-out';

describe('signOutUrl', () => {
  const request = { call: { ownOrigin: 'https://payouts.example.com' } } as FastifyRequest;

  async function ask(idToken: string, address: string | undefined) {
    const set: string[] = [];
    const reply = { header: (_name: string, value: string) => set.push(value) } as unknown as FastifyReply;
    const provider = { endSessionUrl: () => Promise.resolve(address) };
    const url = await signOutUrl(request, reply, provider, { client: 'wallet', idToken });
    return {
      url,
      kept: Buffer.from(/=([\w-]*);/.exec(set[0] ?? '')?.[1] ?? '', 'base64url').toString(),
      set,
    };
  }

  it('hides the ID token from scripts', async () => {
    const asked = await ask('eyJhbGciOi', 'https://id.example.com/end');
    expect(asked.url).toBe('https://payouts.example.com/session/sign-out');
    expect(JSON.parse(asked.kept)).toEqual({ client: 'wallet', idToken: 'eyJhbGciOi' });
    expect(asked.set).toHaveLength(1);
    expect(asked.set[0]).toMatch(
      /^__Host-payout_proxy_sign_out=[\w-]+; Max-Age=300; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
  });

  it('omits an ID token too large for a cookie', async () => {
    const asked = await ask('x'.repeat(4_000), 'https://id.example.com/end');
    expect(JSON.parse(asked.kept)).toEqual({ client: 'wallet' });
  });

  it('is null without a session at the provider', async () => {
    expect(await ask('eyJhbGciOi', undefined)).toMatchObject({ url: null, set: [] });
  });
});
