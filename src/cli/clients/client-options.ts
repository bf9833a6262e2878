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
A new client has only the given limits. The value none removes a limit: --daily-cap none, --countries none.
Days and months are in UTC. Amounts are US dollars with at most 6 decimals.`;

/** Adds an option for each limit. */
export function withLimitOptions(command: Command, keys: readonly LimitKey[] = LIMIT_KEYS): Command {
  for (const key of keys) command.addOption(toOption(key));
  return command;
}

/** Adds an option that turns off each flag. */
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
 * Returns the limits that the options set.
 * @param options from commander.
 * @param none the value that removes a limit.
 * @throws ClientError that names the option.
 */
export function chosenLimits<Key extends LimitKey>(
  options: object,
  keys: readonly Key[],
  none: string,
): Partial<Pick<Limits, Key>> {
  const texts = options as Record<string, string | boolean | undefined>;
  const limits = keys
    .map((key) => ({ key, text: texts[toOption(key).attributeName()] }))
    .filter(({ text }) => text !== undefined)
    .map(({ key, text }) => ({
      key,
      value: text === none ? NOTHING[LIMIT_ROWS[key].kind] : valueOf(key, text),
    }));
  const wrong = limits.filter(({ key, value }) => value !== null && !LIMIT_FIELDS[key].test(value));
  if (wrong.length > 0) {
    throw new ClientError(
      wrong.map(({ key }) => `${optionOf(key)} ${LIMIT_FIELDS[key].must}, or ${none}.`).join(' '),
    );
  }
  return Object.fromEntries(limits.map(({ key, value }) => [key, value])) as Partial<Pick<Limits, Key>>;
}

/** Returns the limits of a client in a short form for tables. */
export function limitsInShort(client: ListedClient): string {
  const valueIn = (key: LimitKey) => client[LIMIT_ROWS[key].name as keyof ListedClient];
  return LIMIT_KEYS.flatMap((key) => inShort(key, valueIn(key))).join(', ') || 'none';
}

function inShort(key: LimitKey, value: unknown): string[] {
  const label = inSentence(LIMIT_ROWS[key].label);
  if (Array.isArray(value)) return value.length > 0 ? [`${value.length} ${label}`] : [];
  if (value === true) return [label];
  return typeof value === 'string' || typeof value === 'number' ? [`${label} ${value}`] : [];
}

const NOTHING = { usd: null, count: null, list: [], flag: null };

/** Reads the value of an option. Returns invalid text unchanged, because every rule rejects it. */
function valueOf(key: LimitKey, text: string | boolean | undefined): unknown {
  if (typeof text !== 'string') return text;
  switch (LIMIT_ROWS[key].kind) {
    case 'usd':
      return readUsd(text) ?? text;
    case 'count':
      return wholeNumber(text);
    case 'list':
      return listIn(text);
    case 'flag':
      return text;
  }
}

/** Reads a whole number. Returns other text unchanged, because every rule rejects it. */
function wholeNumber(text: string): number | string {
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}

function listIn(text: string): string[] | string {
  const list = [...new Set(words(text))];
  return list.length > 0 ? list : text; // an empty list is a mistake, not a removed limit
}

/** Values of the operation options: comma-separated lists of names. */
export interface OperationOptions {
  operations?: string;
  withoutOperations?: string;
}

export const OPERATIONS_HELP = `
Operations are names, or one of the sets all (with future operations), documented, and observed:
${NAMES.map((name) => `  ${name}`).join('\n')}`;

/**
 * Returns the operations that these options allow a client. Null means all.
 * @param current the client's operations, which apply without --operations.
 * @throws ClientError for an unknown name.
 */
export function chosenOperations(options: OperationOptions, current: string[] | null): string[] | null {
  const chosen = options.operations === undefined ? current : operationsIn(options.operations);
  if (options.withoutOperations === undefined) return chosen;
  const taken = operationsIn(options.withoutOperations) ?? NAMES;
  return (chosen ?? NAMES).filter((name) => !taken.includes(name));
}

function operationsIn(list: string): string[] | null {
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

/** Returns the number of operations of a client, for tables. */
export function countOf(operations: string[] | null): string {
  return operations ? `${operations.length} of ${NAMES.length}` : 'all';
}

/** Provider options from commander. */
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
A client with an identity provider accepts its access tokens (RFC 9068). --token-issuer, --token-audience,
--token-jwks-uri and --token-client-id belong together. --token-issuer none removes the provider and ends all
tokens. People sign in to the pages of a client at an OpenID provider. --page-issuer and --page-client-id
belong together. --page-issuer none removes the provider and ends all sessions on the pages.`;

export function withProviderOptions(command: Command): Command {
  return command
    .option('--token-issuer <url>', 'issuer of the accepted access tokens')
    .option('--token-audience <text>', 'audience of the tokens: this API')
    .option('--token-jwks-uri <url>', "URL of the issuer's public keys")
    .option('--token-client-id <id>', 'ID of the app at the issuer')
    .option('--token-algorithms <list>', `signature algorithms of the tokens: ${TOKEN_ALGORITHMS.join(', ')}`)
    .option('--token-dpop', 'accept only tokens that are bound to a key of the app (DPoP)')
    .option('--token-max-age <seconds>', 'maximum age of a token in seconds, from its issue')
    .option('--page-issuer <url>', 'OpenID provider of sign-ins to the pages')
    .option('--page-client-id <id>', 'ID of the client at that provider');
}

/** Returns the provider fields that the options set. @throws ClientError that names the option. */
export function chosenProviders(options: ProviderOptions): Partial<Providers> {
  const { tokenIssuer, tokenAlgorithms, tokenMaxAge, pageIssuer, ...others } = options;
  const fields: Partial<Record<keyof Providers, unknown>> = {
    ...others,
    ...(tokenIssuer !== undefined && { tokenIssuer: issuerIn(tokenIssuer) }),
    ...(pageIssuer !== undefined && { pageIssuer: issuerIn(pageIssuer) }),
    ...(tokenMaxAge !== undefined && { tokenMaxAge: wholeNumber(tokenMaxAge) }),
    ...(tokenAlgorithms !== undefined && { tokenAlgorithms: words(tokenAlgorithms) }),
  };
  const keys = PROVIDER_KEYS.filter((key) => fields[key] !== undefined);
  const wrong = keys.filter((key) => fields[key] !== null && !PROVIDER_FIELDS[key].test(fields[key]));
  if (wrong.length > 0)
    throw new ClientError(
      wrong.map((key) => `${optionOfProvider(key)} ${PROVIDER_FIELDS[key].must}.`).join(' '),
    );
  return Object.fromEntries(keys.map((key) => [key, fields[key]]));
}

function issuerIn(text: string): string | null {
  return text === 'none' ? null : text;
}

function optionOfProvider(key: keyof Providers): string {
  return `--${PROVIDER_FIELDS[key].name.replaceAll('_', '-')}`;
}
