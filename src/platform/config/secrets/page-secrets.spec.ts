import { pageSecretIn } from './page-secrets';
import { Secret } from './secret';

describe('the secret of a client at the provider of its pages', () => {
  const ISSUER = 'https://id.example.com';
  const secrets = new Secret(
    JSON.stringify({ [ISSUER]: { 'wallet-pages': 'one' }, 'https://b.example': { shop: 'two' } }),
  );

  it('is that of its issuer and client ID', () => {
    expect(pageSecretIn(secrets, ISSUER, 'wallet-pages')?.reveal()).toBe('one');
    expect(pageSecretIn(secrets, 'https://b.example', 'shop')?.reveal()).toBe('two');
  });

  it('is sent to no other issuer', () => {
    expect(pageSecretIn(secrets, 'https://evil.example', 'wallet-pages')).toBeUndefined();
    expect(pageSecretIn(secrets, `${ISSUER}/`, 'wallet-pages')).toBeUndefined();
  });

  it('is none if an object has two members of one name', () => {
    const twice = new Secret(`{"${ISSUER}":{"wallet-pages":"one"},"${ISSUER}":{"wallet-pages":"two"}}`);
    expect(pageSecretIn(twice, ISSUER, 'wallet-pages')).toBeUndefined();
  });

  it.each(['constructor', '__proto__', 'toString', 'shop'])('is none for %s', (name) => {
    expect(pageSecretIn(secrets, ISSUER, name)).toBeUndefined();
    expect(pageSecretIn(secrets, name, name)).toBeUndefined();
    expect(pageSecretIn(undefined, ISSUER, name)).toBeUndefined();
  });
});
