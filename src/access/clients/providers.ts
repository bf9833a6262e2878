import { Fault } from '../../platform/errors/problem';
import { ClientError } from './client-error';
import { LIMIT_FIELDS } from './limit-fields';
import { Limits } from './limits';
import {
  impliedPageFields,
  NO_PAGE_PROVIDER,
  PAGE_PROVIDER_FIELDS,
  PAGE_PROVIDER_KEYS,
  PageProvider,
  pageWidenings,
} from './page-provider';
import {
  impliedTokenFields,
  isOptional,
  NO_TOKEN_PROVIDER,
  TOKEN_PROVIDER_FIELDS,
  TOKEN_PROVIDER_KEYS,
  TokenProvider,
  tokenWidenings,
} from './token-provider';

/** The identity providers of a client: that of its access tokens, and that of the sessions on its pages. */
export interface Providers extends TokenProvider, PageProvider {}

export const NO_PROVIDERS: Providers = { ...NO_TOKEN_PROVIDER, ...NO_PAGE_PROVIDER };
export const PROVIDER_FIELDS = { ...TOKEN_PROVIDER_FIELDS, ...PAGE_PROVIDER_FIELDS };
export const PROVIDER_KEYS = Object.keys(PROVIDER_FIELDS) as (keyof Providers)[];

/** The providers of a client, and the origins of its pages. */
type WithOrigins = Providers & Pick<Limits, 'origins'>;

/** Fields that a provider has together. */
interface Together {
  keys: (keyof Providers)[];
  /** A field that the provider needs, and that a client may have without it. */
  needs?: keyof WithOrigins;
  client: string;
  /** What to do to have none. */
  without: string;
}

const TOGETHER: Together[] = [
  {
    keys: TOKEN_PROVIDER_KEYS.filter((key) => !isOptional(key)),
    client: 'a client that takes access tokens',
    without: 'To take none, set token_issuer to null',
  },
  {
    keys: PAGE_PROVIDER_KEYS,
    needs: 'origins', // a sign-in returns to a page of them
    client: 'a client with page sessions',
    without: 'To have none, set page_issuer to null',
  },
];

/** Completes a change of providers with what it implies. @throws ClientError that names the missing fields. */
export function completeProviders<Change extends Partial<WithOrigins>>(before: WithOrigins, change: Change): Change {
  const completed = { ...change, ...impliedTokenFields(before, change), ...impliedPageFields(change) };
  const after = { ...before, ...completed };
  const lacking = TOGETHER.map((one) => ({ ...one, missing: missingOf(one, after) })).filter(
    ({ missing }) => missing.length > 0,
  );
  if (lacking.length === 0) return completed;
  const texts = lacking.map(({ client, missing }) => `${client} needs ${missing.map(nameOf).join(', ')}, too`);
  const faults = lacking.flatMap(({ client, without, missing }) =>
    missing.map((key): Fault => ({ pointer: `/${nameOf(key)}`, detail: `is required for ${client}. ${without}` })),
  );
  throw new ClientError(texts.join('; '), undefined, faults);
}

function missingOf({ keys, needs }: Together, after: WithOrigins): (keyof WithOrigins)[] {
  const isMissing = (key: keyof WithOrigins) => after[key] === null || [after[key]].flat().length === 0;
  if (keys.every(isMissing)) return [];
  return [...keys, ...(needs ? [needs] : [])].filter(isMissing);
}

/** Returns the changed fields that let a client take people or tokens that it did not take before, by the names of the API. */
export function providerWidenings(before: Providers, after: Providers): string[] {
  return [...tokenWidenings(before, after), ...pageWidenings(before, after)].map(nameOf);
}

function nameOf(key: keyof WithOrigins): string {
  return key === 'origins' ? LIMIT_FIELDS.origins.name : PROVIDER_FIELDS[key].name;
}
