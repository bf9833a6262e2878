import { Command } from 'commander';
import { Decimal } from 'decimal.js';
import { ClientError } from '../access/clients/client-error';
import { LIMIT_FIELDS, LIMIT_KEYS, readUsd } from '../access/clients/limit-fields';
import { Limits } from '../access/clients/limits';
import { ListedClient } from '../access/clients/listed';
import { words } from '../platform/config/words';

/** The options' names, without their dashes as commander gives them. */
export interface LimitOptions {
  dailyCap?: string;
  monthlyCap?: string;
  maxItem?: string;
  maxCall?: string;
  approvalOver?: string;
  maxItems?: string;
  rpm?: string;
  countries?: string;
  addresses?: string;
  origins?: string;
  requireIdempotencyKey?: boolean;
}

const OPTION_OF: Record<keyof Limits, string> = {
  dailyCapUsd: '--daily-cap',
  monthlyCapUsd: '--monthly-cap',
  maxItemUsd: '--max-item',
  maxCallUsd: '--max-call',
  approvalOverUsd: '--approval-over',
  maxItems: '--max-items',
  requestsPerMinute: '--rpm',
  countries: '--countries',
  addresses: '--addresses',
  origins: '--origins',
  requireIdempotencyKey: '--require-idempotency-key',
};

export const LIMITS_HELP = `
A limit that is left out of create is none; none takes one away: --daily-cap none, --countries none.
Days and months are those of UTC. Amounts are US dollars, with at most 6 decimals.`;

export function withLimitOptions(command: Command): Command {
  return command
    .option('--daily-cap <usd>', 'most that it may pay in a day')
    .option('--monthly-cap <usd>', 'most that it may pay in a month')
    .option('--max-item <usd>', 'most that one item may be')
    .option('--max-call <usd>', 'most that the items of one call may add up to')
    .option('--approval-over <usd>', 'what is more than this in one call waits for an approval')
    .option('--max-items <count>', 'items in one call')
    .option('--rpm <count>', 'requests a minute')
    .option('--countries <list>', 'comma-separated names; it may pay to no other')
    .option('--addresses <list>', 'comma-separated addresses or CIDR blocks that it may call from')
    .option('--origins <list>', 'comma-separated web origins whose pages may call (CORS), such as https://shop.example')
    .option('--require-idempotency-key', 'refuse what pays or writes without the header Idempotency-Key');
}

/**
 * The limits that options name; of the others nothing is said.
 * @throws ClientError that names the option.
 */
export function chosenLimits(options: LimitOptions): Partial<Limits> {
  const given: Partial<Record<keyof Limits, unknown>> = {
    dailyCapUsd: amount(options.dailyCap),
    monthlyCapUsd: amount(options.monthlyCap),
    maxItemUsd: amount(options.maxItem),
    maxCallUsd: amount(options.maxCall),
    approvalOverUsd: amount(options.approvalOver),
    maxItems: count(options.maxItems),
    requestsPerMinute: count(options.rpm),
    countries: list(options.countries),
    addresses: list(options.addresses),
    origins: list(options.origins),
    requireIdempotencyKey: options.requireIdempotencyKey,
  };
  const named = LIMIT_KEYS.filter((key) => given[key] !== undefined);
  const wrong = named.filter((key) => given[key] !== null && !LIMIT_FIELDS[key].test(given[key]));
  if (wrong.length > 0) {
    throw new ClientError(wrong.map((key) => `${OPTION_OF[key]} ${LIMIT_FIELDS[key].must}, or none`).join('; '));
  }
  return Object.fromEntries(named.map((key) => [key, given[key]]));
}

/** How the limits of a client are said in a table. */
export function limitsInShort(client: ListedClient): string {
  const parts = [
    client.daily_cap_usd && `${client.daily_cap_usd}/day`,
    client.monthly_cap_usd && `${client.monthly_cap_usd}/month`,
    client.max_item_usd && `${client.max_item_usd}/item`,
    client.max_call_usd && `${client.max_call_usd}/call`,
    client.approval_over_usd && `approval over ${client.approval_over_usd}`,
    client.max_items && `${client.max_items} items`,
    client.requests_per_minute && `${client.requests_per_minute} rpm`,
    client.countries.length > 0 && `${client.countries.length} countries`,
    client.addresses.length > 0 && `${client.addresses.length} addresses`,
    client.origins.length > 0 && `${client.origins.length} origins`,
    client.require_idempotency_key && 'idempotency key',
  ];
  return parts.filter(Boolean).join(', ') || 'none';
}

const NONE = 'none';

/** What cannot be read stays as it is, which no rule takes. */
function amount(text: string | undefined): Decimal | string | null | undefined {
  return text === NONE ? null : (readUsd(text) ?? text);
}

function count(text: string | undefined): number | string | null | undefined {
  if (text === NONE) return null;
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : text;
}

function list(text: string | undefined): string[] | string | undefined {
  if (text === undefined || text === NONE) return text && [];
  const given = [...new Set(words(text))];
  return given.length > 0 ? given : text; // no words are not meant as no limit
}
