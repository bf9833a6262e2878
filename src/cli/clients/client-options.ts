import { Command, Option } from 'commander';
import { ClientError } from '../../access/clients/client-error';
import { LIMIT_FIELDS, readUsd } from '../../access/clients/limits/limit-fields';
import {
  inSentence,
  LIMIT_KEYS,
  LIMIT_ROWS,
  LimitKey,
  Limits,
  optionOf,
  unitOf,
} from '../../access/clients/limits/limits';
import { ListedClient } from '../../access/clients/listed';
import { PROVIDER_FIELDS, PROVIDER_KEYS, Providers, TOKEN_ALGORITHMS } from '../../access/clients/providers';
import { OPERATION_NAMES as NAMES, sourceOf } from '../../operations/catalogue/catalogue';
import { words } from '../../platform/config/environment/words';

export const LIMITS_HELP = `
A limit that is not given when a client is created does not apply. The value none removes a limit:
--daily-cap none, --countries none. Days and months are in UTC. Amounts are US dollars with at most
6 decimals.`;

/** Adds an option for each of these limits. */
export function withLimitOptions(command: Command, keys: readonly LimitKey[] = LIMIT_KEYS): Command {
  for (const key of keys) command.addOption(toOption(key));
  return command;
}

/** Adds an option that turns off each limit that is a flag. */
export function withOffOptions(command: Command): Command {
  for (const key of LIMIT_KEYS) {
    const option = optionOf(key);
    if (LIMIT_ROWS[key].kind === 'flag')
      command.option(option.replace('--', '--no-'), `the opposite of ${option}`);
  }
  return command;
}

function toOption(key: LimitKey): Option {
  const { kind, text } = LIMIT_ROWS[key];
  const help = inSentence(text).replace(/\.$/, '');
  if (kind === 'flag') return new Option(optionOf(key), help);
  if (kind === 'list') return new Option(`${optionOf(key)} <list>`, `comma-separated: ${help}`);
  return new Option(`${optionOf(key)} <${unitOf(key) ?? 'count'}>`, help);
}

/**
 * Returns the limits that the options set. Other limits are left out.
 * @param options as commander returns them.
 * @param none the value that removes a limit.
 * @throws ClientError that names the option.
 */
export function chosenLimits<Key extends LimitKey>(
  options: object,
  keys: readonly Key[],
  none: string,
): Partial<Pick<Limits, Key>> {
  const texts = options as Record<string, string | boolean | undefined>;
  const given = keys
    .map((key) => ({ key, text: texts[toOption(key).attributeName()] }))
    .filter(({ text }) => text !== undefined)
    .map(({ key, text }) => ({
      key,
      value: text === none ? NOTHING[LIMIT_ROWS[key].kind] : valueOf(key, text),
    }));
  const wrong = given.filter(({ key, value }) => value !== null && !LIMIT_FIELDS[key].test(value));
  if (wrong.length > 0) {
    throw new ClientError(
      wrong.map(({ key }) => `${optionOf(key)} ${LIMIT_FIELDS[key].must}, or ${none}.`).join(' '),
    );
  }
  return Object.fromEntries(given.map(({ key, value }) => [key, value])) as Partial<Pick<Limits, Key>>;
}

/** Returns the limits of a client in the short form that tables show. */
export function limitsInShort(client: ListedClient): string {
  return (
    LIMIT_KEYS.flatMap((key) => inShort(key, client[LIMIT_ROWS[key].name as keyof ListedClient])).join(
      ', ',
    ) || 'none'
  );
}

function inShort(key: LimitKey, value: unknown): string[] {
  const label = inSentence(LIMIT_ROWS[key].label);
  if (Array.isArray(value)) return value.length > 0 ? [`${value.length} ${label}`] : [];
  if (value === true) return [label];
  return typeof value === 'string' || typeof value === 'number' ? [`${label} ${value}`] : [];
}

const NOTHING = { usd: null, count: null, list: [], flag: null };

/** Reads the value of an option. Other text stays as it is, and every rule rejects it. */
function valueOf(key: LimitKey, text: string | boolean | undefined): unknown {
  if (typeof text !== 'string') return text;
  switch (LIMIT_ROWS[key].kind) {
    case 'usd':
      return readUsd(text) ?? text;
    case 'count':
      return wholeNumber(text);
    case 'list':
      return listed(text);
    case 'flag':
      return text;
  }
}

/** Reads a whole number. Other text stays as it is, and every rule rejects it. */
function wholeNumber(text: string): number | string {
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}

function listed(text: string): string[] | string {
  const given = [...new Set(words(text))];
  return given.length > 0 ? given : text; // an empty list is a mistake, not a removed limit
}

/** The values of the options: comma-separated lists of names. */
export interface OperationOptions {
  operations?: string;
  withoutOperations?: string;
}

export const OPERATIONS_HELP = `
Give operations by name, or use one of the sets all (includes future operations), documented, and observed:
${NAMES.map((name) => `  ${name}`).join('\n')}`;

/**
 * Returns the operations that these options allow a client. Null means all.
 * @param current the operations that the client may use now, which apply without --operations.
 * @throws ClientError for an unknown name.
 */
export function chosenOperations(options: OperationOptions, current: string[] | null): string[] | null {
  const chosen = options.operations === undefined ? current : named(options.operations);
  if (options.withoutOperations === undefined) return chosen;
  const taken = named(options.withoutOperations) ?? NAMES;
  return (chosen ?? NAMES).filter((name) => !taken.includes(name));
}

function named(list: string): string[] | null {
  const given = words(list);
  const unknown = given.filter((word) => word !== 'all' && namesOf(word).length === 0);
  if (unknown.length > 0 || given.length === 0) {
    throw new ClientError(
      `Unknown operations: ${unknown.join(', ') || '(none given)'}. Use all, documented, observed, or ` +
        `these names: ${NAMES.join(', ')}.`,
    );
  }
  return given.includes('all')
    ? null
    : NAMES.filter((name) => given.some((word) => namesOf(word).includes(name)));
}

function namesOf(word: string): string[] {
  return NAMES.filter((name) => name === word || sourceOf(name) === word);
}

/** Returns how many operations a client may use, for tables. */
export function countOf(operations: string[] | null): string {
  return operations ? `${operations.length} of ${NAMES.length}` : 'all';
}

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
A client with an identity provider takes its access tokens (RFC 9068). --token-issuer,
--token-audience, --token-jwks-uri and --token-client-id belong together. The value --token-issuer
none removes the provider, and ends all tokens. People sign in to the pages of a client at an OpenID
provider: --page-issuer and --page-client-id belong together. The value --page-issuer none removes
it, and ends all sessions on its pages.`;

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
    .option(
      '--token-max-age <seconds>',
      'seconds after which its tokens end, counted from when they were issued',
    )
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
    throw new ClientError(
      wrong.map((key) => `${optionOfProvider(key)} ${PROVIDER_FIELDS[key].must}.`).join(' '),
    );
  return Object.fromEntries(named.map((key) => [key, given[key]]));
}

function issuerIn(text: string): string | null {
  return text === 'none' ? null : text;
}

function optionOfProvider(key: keyof Providers): string {
  return `--${PROVIDER_FIELDS[key].name.replaceAll('_', '-')}`;
}
