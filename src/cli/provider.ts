import { Command } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { PROVIDER_FIELDS, PROVIDER_KEYS, TOKEN_ALGORITHMS, TokenProvider } from '../access/clients/token-provider';
import { words } from '../platform/config/words';

/** The provider options as commander returns them. */
export interface ProviderOptions {
  tokenIssuer?: string;
  tokenAudience?: string;
  tokenJwksUri?: string;
  tokenAlgorithms?: string;
  tokenClientId?: string;
  tokenDpop?: boolean;
}

export const PROVIDER_HELP = `
A client with an identity provider takes its access tokens (RFC 9068). --token-issuer, --token-audience, --token-jwks-uri and
--token-client-id belong together. The value --token-issuer none removes the provider, and ends all tokens.`;

export function withProviderOptions(command: Command): Command {
  return command
    .option('--token-issuer <url>', 'issuer of the access tokens that it takes')
    .option('--token-audience <text>', 'audience of its tokens: this API')
    .option('--token-jwks-uri <url>', 'address of the public keys of the issuer')
    .option('--token-client-id <id>', 'ID of the app at the issuer')
    .option(
      '--token-algorithms <list>',
      `comma-separated signature algorithms of its tokens: ${TOKEN_ALGORITHMS.join(', ')}`,
    )
    .option('--token-dpop', 'take only tokens that are bound to a key of the app (DPoP)');
}

/** Returns the fields of the provider that the options set. @throws ClientError that names the option. */
export function chosenProvider(options: ProviderOptions): Partial<TokenProvider> {
  const { tokenIssuer, tokenAlgorithms, ...others } = options;
  const given: Partial<TokenProvider> = {
    ...others,
    ...(tokenIssuer !== undefined && { tokenIssuer: tokenIssuer === 'none' ? null : tokenIssuer }),
    ...(tokenAlgorithms !== undefined && { tokenAlgorithms: words(tokenAlgorithms) }),
  };
  const named = PROVIDER_KEYS.filter((key) => given[key] !== undefined);
  const wrong = named.filter((key) => given[key] !== null && !PROVIDER_FIELDS[key].test(given[key]));
  if (wrong.length > 0)
    throw new ClientError(wrong.map((key) => `${optionOf(key)} ${PROVIDER_FIELDS[key].must}.`).join(' '));
  return Object.fromEntries(named.map((key) => [key, given[key]]));
}

function optionOf(key: keyof TokenProvider): string {
  return `--${PROVIDER_FIELDS[key].name.replaceAll('_', '-')}`;
}
