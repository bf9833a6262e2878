import { ApiPropertyOptions } from '@nestjs/swagger';
import {
  isOptional,
  MAX_MAX_AGE,
  MAX_PROVIDER_TEXT,
  MIN_MAX_AGE,
  OptionalKey,
  PROVIDER_FIELDS,
  Providers,
  TOKEN_ALGORITHMS,
  USUAL_MAX_AGE,
} from '../../access/clients/providers';
import { field, WordList } from '../../http/validation/rules/rules';

const providerField = (key: Exclude<keyof Providers, 'tokenAlgorithms'>, schema: ApiPropertyOptions) => {
  const { must, test } = PROVIDER_FIELDS[key];
  return field({ required: false, nullable: !isOptional(key), must, test }, schema);
};

const ProviderText = (key: Exclude<keyof Providers, 'tokenAlgorithms' | OptionalKey>, description: string) =>
  providerField(key, { type: 'string', minLength: 1, maxLength: MAX_PROVIDER_TEXT, description });

const Algorithms = (description: string) => {
  const { must, test } = PROVIDER_FIELDS.tokenAlgorithms;
  const items = { type: 'string', enum: [...TOKEN_ALGORITHMS] };
  return WordList({ required: false, must, test }, { items, maxItems: TOKEN_ALGORITHMS.length, description });
};

/** Identity providers of a client. Each is set completely or not at all. */
export class ProviderDto {
  @ProviderText('tokenIssuer', 'Issuer of its access tokens. Null disables them.')
  token_issuer?: string | null;

  @ProviderText('tokenAudience', 'Audience of its tokens: this API.') token_audience?: string | null;
  @ProviderText('tokenJwksUri', "URL of the issuer's public keys.") token_jwks_uri?: string | null;
  @ProviderText('tokenClientId', 'ID of the app at the issuer.') token_client_id?: string | null;

  @Algorithms('Signature algorithms of its tokens. Default: `ES256`, `RS256`, `PS256`, `EdDSA`.')
  token_algorithms?: string[];

  @providerField('tokenDpop', {
    type: 'boolean',
    description: 'Whether its tokens must be bound to a key (DPoP).',
  })
  token_dpop?: boolean;

  @providerField('tokenMaxAge', {
    type: 'integer',
    minimum: MIN_MAX_AGE,
    maximum: MAX_MAX_AGE,
    description: `Maximum age of its tokens in seconds, from \`iat\`. Default: ${USUAL_MAX_AGE}.`,
  })
  token_max_age?: number;

  @ProviderText('pageIssuer', 'OpenID provider of sign-ins to its pages. Null disables them.')
  page_issuer?: string | null;
  @ProviderText('pageClientId', 'ID of the client at `page_issuer`.') page_client_id?: string | null;
}
