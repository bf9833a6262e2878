import { Command, Option } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { LIMIT_FIELDS, readUsd } from '../access/clients/limit-fields';
import { inSentence, LIMIT_KEYS, LIMIT_ROWS, LimitKey, Limits, optionOf, unitOf } from '../access/clients/limits';
import { ListedClient } from '../access/clients/listed';
import { words } from '../platform/config/words';

export const LIMITS_HELP = `
A limit that is not given when a client is created does not apply. The value none removes a limit: --daily-cap none,
--countries none. Days and months are in UTC. Amounts are US dollars with at most 6 decimals.`;

/** Adds an option for each of these limits. */
export function withLimitOptions(command: Command, keys: readonly LimitKey[] = LIMIT_KEYS): Command {
  for (const key of keys) command.addOption(toOption(key));
  return command;
}

/** Adds an option that turns off each limit that is a flag. */
export function withOffOptions(command: Command): Command {
  for (const key of LIMIT_KEYS) {
    const option = optionOf(key);
    if (LIMIT_ROWS[key].kind === 'flag') command.option(option.replace('--', '--no-'), `the opposite of ${option}`);
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
    .map(({ key, text }) => ({ key, value: text === none ? NOTHING[LIMIT_ROWS[key].kind] : valueOf(key, text) }));
  const wrong = given.filter(({ key, value }) => value !== null && !LIMIT_FIELDS[key].test(value));
  if (wrong.length > 0) {
    throw new ClientError(wrong.map(({ key }) => `${optionOf(key)} ${LIMIT_FIELDS[key].must}, or ${none}.`).join(' '));
  }
  return Object.fromEntries(given.map(({ key, value }) => [key, value])) as Partial<Pick<Limits, Key>>;
}

/** Returns the limits of a client in the short form that tables show. */
export function limitsInShort(client: ListedClient): string {
  return (
    LIMIT_KEYS.flatMap((key) => inShort(key, client[LIMIT_ROWS[key].name as keyof ListedClient])).join(', ') || 'none'
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
export function wholeNumber(text: string): number | string {
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}

function listed(text: string): string[] | string {
  const given = [...new Set(words(text))];
  return given.length > 0 ? given : text; // an empty list is a mistake, not a removed limit
}
