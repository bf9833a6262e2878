import { Command } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { PROVIDER_FIELDS, PROVIDER_KEYS, Providers, TOKEN_ALGORITHMS } from '../access/clients/providers';
import { words } from '../platform/config/words';
import { wholeNumber } from './limits';

/** The provider options as commander returns them. */
export interface ProviderOptions {
  tokenIssuer?: string;
  tokenAudience?: string;
  tokenJwksUri?: string;
  tokenAlgorithms?: string;
  tokenClientId?: string;
  tokenDpop?: boolean;
  tokenMaxAge?: string;
  pageIssuer?: string;
  pageClientId?: string;
}

export const PROVIDER_HELP = `
A client with an identity provider takes its access tokens (RFC 9068). --token-issuer, --token-audience, --token-jwks-uri and
--token-client-id belong together. The value --token-issuer none removes the provider, and ends all tokens.
People sign in to the pages of a client at an OpenID provider: --page-issuer and --page-client-id belong together. The value
--page-issuer none removes it, and ends all sessions on its pages.`;

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
    .option('--token-dpop', 'take only tokens that are bound to a key of the app (DPoP)')
    .option('--token-max-age <seconds>', 'seconds after which its tokens end, counted from when they were issued')
    .option('--page-issuer <url>', 'OpenID provider at which people sign in to its pages')
    .option('--page-client-id <id>', 'ID of the client at that provider');
}

/** Returns the fields of the providers that the options set. @throws ClientError that names the option. */
export function chosenProviders(options: ProviderOptions): Partial<Providers> {
  const { tokenIssuer, tokenAlgorithms, tokenMaxAge, pageIssuer, ...others } = options;
  const given: Partial<Record<keyof Providers, unknown>> = {
    ...others,
    ...(tokenIssuer !== undefined && { tokenIssuer: issuerIn(tokenIssuer) }),
    ...(pageIssuer !== undefined && { pageIssuer: issuerIn(pageIssuer) }),
    ...(tokenMaxAge !== undefined && { tokenMaxAge: wholeNumber(tokenMaxAge) }),
    ...(tokenAlgorithms !== undefined && { tokenAlgorithms: words(tokenAlgorithms) }),
  };
  const named = PROVIDER_KEYS.filter((key) => given[key] !== undefined);
  const wrong = named.filter((key) => given[key] !== null && !PROVIDER_FIELDS[key].test(given[key]));
  if (wrong.length > 0)
    throw new ClientError(wrong.map((key) => `${optionOf(key)} ${PROVIDER_FIELDS[key].must}.`).join(' '));
  return Object.fromEntries(named.map((key) => [key, given[key]]));
}

function issuerIn(text: string): string | null {
  return text === 'none' ? null : text;
}

function optionOf(key: keyof Providers): string {
  return `--${PROVIDER_FIELDS[key].name.replaceAll('_', '-')}`;
}
