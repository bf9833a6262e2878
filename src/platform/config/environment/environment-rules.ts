import { Transform } from 'class-transformer';
import { Matches, ValidateBy, ValidationArguments } from 'class-validator';
import { CronPattern } from 'croner';
import { readDatabaseUrl, ConnectionUse } from '../database/database-url';
import { isAddressBlock } from '../network/address-block';
import { readException } from '../network/no-proxy';
import { isWebhookSecret } from '../secrets/webhook-key';
import { words } from './words';

/** Parses a number. Leaves other text unchanged for the following rule to report. */
export const Numeric = () =>
  Transform(({ value }) =>
    typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : (value as unknown),
  );

/** Reads comma-separated words. */
export const Words = () =>
  Transform(({ value }) => (typeof value === 'string' ? words(value) : (value as unknown)));

/** Parses comma-separated pairs into a map. Leaves other text unchanged for the following rule to report. */
const Pairs = (form: RegExp, toValue: (text: string) => string | number) =>
  Transform(({ value }) => {
    if (typeof value !== 'string') return value as unknown;
    const pairs = words(value).map((word) => form.exec(word));
    return pairs.includes(null)
      ? value
      : new Map(pairs.map((pair) => [pair?.[1] ?? '', toValue(pair?.[2] ?? '')]));
  });

const isMap = (value: unknown) => value instanceof Map;

/**
 * Returns a rule of a variable.
 * @param must the fault of a value that breaks it.
 */
export function rule<Value>(
  name: string,
  validate: (value: Value) => boolean,
  must: string | ((given: ValidationArguments) => string),
): PropertyDecorator {
  return ValidateBy({
    name,
    validator: { validate, defaultMessage: typeof must === 'string' ? () => must : (given) => must(given!) },
  });
}

/** Accepts field names, except properties of every JavaScript object. */
export const AreFieldNames = () =>
  rule(
    'areFieldNames',
    (names: string[]) =>
      names.every((name) => /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(name) && !(name in Object.prototype)),
    '$property must be a comma-separated list of field names. A name has at most 64 letters, digits, ' +
      'and underscores, begins with a letter, and is not a property of every JavaScript object, such as ' +
      'constructor',
  );

/** Reads `POST /payouts/airtime=60000,GET /info/assets=3000` as a map. */
export const Deadlines = () => Pairs(/^(.+)=(\d{1,9})$/, Number);

export const AreDeadlines = () =>
  rule(
    'areDeadlines',
    (value: unknown) => value instanceof Map && [...value.values()].every((ms) => ms >= 100 && ms <= 600_000),
    '$property must be a comma-separated list of operations with milliseconds from 100 to 600000, such ' +
      'as POST /payouts/airtime=60000',
  );

/** Reads `airtime=100,momo=50.5` as a map. */
export const Amounts = () => Pairs(/^(.+)=(\d{1,9}(?:\.\d{1,6})?)$/, String);

export const AreAmounts = () =>
  rule(
    'areAmounts',
    isMap,
    '$property must be a comma-separated list of wallets with amounts of US dollars, such as ' +
      'airtime=100,momo=50.5',
  );

/** Reads texts by operation, such as `POST /payouts/airtime=airtime`, as a map. */
export const ByOperation = () => Pairs(/^([^=]+)=([^=]+)$/, String);

/**
 * Reads rules by operation, such as `POST /payouts/airtime=<10:0.20,1%`, as a map. A word without an
 * operation continues the rule before it.
 */
export const RulesByOperation = () =>
  Transform(({ value }) => {
    if (typeof value !== 'string') return value as unknown;
    const rules = new Map<string, string>();
    let operation: string | undefined;
    for (const word of words(value)) {
      const [, name, first] = /^([^=]+)=([^=]+)$/.exec(word) ?? [];
      operation = name ?? operation;
      const isAnother = name === undefined ? word.includes('=') : rules.has(name);
      if (operation === undefined || isAnother) return value;
      rules.set(operation, first ?? `${rules.get(operation)},${word}`);
    }
    return rules;
  });

/** @param what the value of each operation, with an example. */
export const AreByOperation = (what: string) =>
  rule('areByOperation', isMap, `$property must be a comma-separated list of operations with ${what}`);

export const AreAddresses = () =>
  rule(
    'areAddresses',
    (blocks: string[]) => blocks.every(isAddressBlock),
    '$property must be a comma-separated list of IP addresses or CIDR blocks, such as 10.0.0.0/8',
  );

/** Accepts origins of the proxy. A path would have no effect. */
export const AreOrigins = () =>
  rule(
    'areOrigins',
    (urls: string[]) => urls.every((url) => URL.canParse(url) && new URL(url).origin === url),
    '$property must be a comma-separated list of https:// addresses in lower case without a path, a ' +
      'final slash and the usual port, such as https://payouts.example.com',
  );

const anyHost = { require_protocol: true, require_tld: false, allow_underscores: true };

/** Accepts addresses of `readDatabaseUrl`, and reports every fault of others. */
export const IsDatabaseUrl = (use: ConnectionUse) =>
  rule(
    'isDatabaseUrl',
    (value: unknown) => typeof value === 'string' && readDatabaseUrl(value, use).faults.length === 0,
    (given) =>
      readDatabaseUrl(String(given.value), use)
        .faults.map((fault) => `${given.property} ${fault}`)
        .join('; '),
  );

/** Options of an address without a user and a query, which would be silently dropped. */
export const isBaseUrl = {
  ...anyHost,
  protocols: ['http', 'https'],
  disallow_auth: true,
  allow_query_components: false,
  allow_fragments: false,
};

/** Accepts the origin of a proxy, with or without a user. A path would have no effect. */
export const IsProxyUrl = () =>
  rule(
    'isProxyUrl',
    (value: unknown) => isProxyUrl(String(value)),
    '$property must be an http:// or https:// address without a path, such as http://proxy.example.com:3128',
  );

function isProxyUrl(text: string): boolean {
  if (!/^https?:\/\/[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return false;
  const { pathname, search, hash, username, password } = new URL(text);
  return pathname === '/' && search === '' && hash === '' && [username, password].every(isDecodable);
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text).length >= 0;
  } catch {
    return false;
  }
}

export const AreProxyExceptions = () =>
  rule(
    'areProxyExceptions',
    (entries: string[]) => entries.every((entry) => readException(entry) !== undefined),
    '$property must be a comma-separated list of domains, IP addresses, CIDR blocks or *, such as ' +
      '.example.com,10.0.0.0/8,db.internal:8443',
  );

/** Rejects characters that are invalid in headers, such as the trailing line end of a file. */
export const IsHeaderValue = () =>
  Matches(/^[\x21-\x7e]{8,}$/, {
    message: '$property must be 8 or more printable ASCII characters without spaces',
  });

/** Accepts any text, and base64 after `whsec_`. */
export const IsWebhookSecret = () =>
  rule(
    'isWebhookSecret',
    (value: unknown) => isWebhookSecret(String(value)),
    '$property must have base64 after whsec_',
  );

/** Accepts decimal text, for US dollars or per cent. */
export const IsDecimalText = () =>
  Matches(/^\d{1,6}(\.\d{1,6})?$/, {
    message: '$property must be a decimal number such as 0.01, with at most 6 decimals',
  });

export const IsCronExpression = () =>
  rule(
    'isCronExpression',
    isCronExpression,
    '$property must be a cron expression of five fields in UTC, such as 15 2 * * *',
  );

const SIGNING_KEY = /PRIVATE\+KEY\+[^+\s,]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}/.source;

/** Checks the form only. `src/history/log/log-key.ts` checks that the parts of a key match. */
export const AreSigningKeys = () =>
  Matches(new RegExp(`^${SIGNING_KEY}([\\s,]+${SIGNING_KEY})*$`), {
    message:
      '$property must be an Ed25519 key in the form PRIVATE+KEY+<name>+<id>+<base64>, or several with ' +
      'commas or in lines of their own',
  });

export const AreVerifierKeys = () =>
  Matches(/^[^+\s,]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/, {
    each: true,
    message: '$property must be a comma-separated list of verifier keys in the form <name>+<id>+<base64>',
  });

/** Minute, hour, day, month, weekday. A field for seconds would start a reconciliation every second. */
const FIELDS = 5;

function isCronExpression(text: unknown): boolean {
  if (typeof text !== 'string' || text.trim().split(/\s+/).length !== FIELDS) return false;
  try {
    new CronPattern(text, 'UTC');
    return true;
  } catch {
    return false;
  }
}
