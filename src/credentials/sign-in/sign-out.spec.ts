import { FastifyReply, FastifyRequest } from 'fastify';
import { signOutUrl } from './sign-out';

describe('signOutUrl', () => {
  const request = { call: { ownOrigin: 'https://payouts.example.com' } } as FastifyRequest;

  function ask(address: string | undefined) {
    const set: string[] = [];
    const reply = { header: (_name: string, value: string) => set.push(value) } as unknown as FastifyReply;
    const url = signOutUrl(request, reply, address);
    return { url, address: Buffer.from(/=([\w-]*);/.exec(set[0] ?? '')?.[1] ?? '', 'base64url').toString(), set };
  }

  it('keeps the ID token out of the address that scripts get', () => {
    const address = 'https://id.example.com/end?id_token_hint=eyJhbGciOi&client_id=wallet-pages';
    const asked = ask(address);
    expect([asked.url, asked.address]).toEqual(['https://payouts.example.com/session/sign-out', address]);
    expect(asked.set).toHaveLength(1);
    expect(asked.set[0]).toMatch(
      /^__Host-payout_proxy_sign_out=[\w-]+; Max-Age=300; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
  });

  it('leaves out an ID token that no cookie can hold', () => {
    const asked = ask(`https://id.example.com/end?id_token_hint=${'x'.repeat(4_000)}&client_id=wallet-pages`);
    expect(asked.address).toBe('https://id.example.com/end?client_id=wallet-pages');
  });

  it('is null if there is nothing to sign out of', () => {
    expect(ask(undefined)).toMatchObject({ url: null, set: [] });
  });
});
