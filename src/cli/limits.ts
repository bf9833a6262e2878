import { Command } from 'commander';
import { Decimal } from 'decimal.js';
import { ClientError } from '../access/clients/client-error';
import { LIMIT_FIELDS, LIMIT_KEYS, readUsd } from '../access/clients/limit-fields';
import { Limits } from '../access/clients/limits';
import { ListedClient } from '../access/clients/listed';
import { words } from '../platform/config/words';

/** The limit options as commander returns them, in camel case and without dashes. */
export interface LimitOptions {
  dailyCap?: string;
  monthlyCap?: string;
  maxItem?: string;
  maxCall?: string;
  approvalOver?: string;
  approvalOverRecipientDay?: string;
  approvalOverDay?: string;
  maxRecipientDay?: string;
  holdDuplicates?: string;
  maxItems?: string;
  rpm?: string;
  countries?: string;
  addresses?: string;
  origins?: string;
  requireIdempotencyKey?: boolean;
  beneficiariesOnly?: boolean;
  beneficiaryCoolOff?: string;
  personDailyCap?: string;
  personMonthlyCap?: string;
  personMaxItem?: string;
  personRpm?: string;
}

const OPTION_OF: Record<keyof Limits, string> = {
  dailyCapUsd: '--daily-cap',
  monthlyCapUsd: '--monthly-cap',
  maxItemUsd: '--max-item',
  maxCallUsd: '--max-call',
  approvalOverUsd: '--approval-over',
  approvalOverRecipientDayUsd: '--approval-over-recipient-day',
  approvalOverDayUsd: '--approval-over-day',
  maxRecipientDayUsd: '--max-recipient-day',
  holdDuplicatesDays: '--hold-duplicates',
  maxItems: '--max-items',
  requestsPerMinute: '--rpm',
  countries: '--countries',
  addresses: '--addresses',
  origins: '--origins',
  requireIdempotencyKey: '--require-idempotency-key',
  beneficiariesOnly: '--beneficiaries-only',
  beneficiaryCoolOffSeconds: '--beneficiary-cool-off',
  personDailyCapUsd: '--person-daily-cap',
  personMonthlyCapUsd: '--person-monthly-cap',
  personMaxItemUsd: '--person-max-item',
  personRequestsPerMinute: '--person-rpm',
};

export const LIMITS_HELP = `
A limit that is not given when a client is created does not apply. The value none removes a limit: --daily-cap none,
--countries none. Days and months are in UTC. Amounts are US dollars with at most 6 decimals.`;

export function withLimitOptions(command: Command): Command {
  return command
    .option('--daily-cap <usd>', 'daily cap in USD')
    .option('--monthly-cap <usd>', 'monthly cap in USD')
    .option('--max-item <usd>', 'largest amount of one item in USD')
    .option('--max-call <usd>', 'largest total of one call in USD')
    .option('--approval-over <usd>', 'approval threshold per call in USD')
    .option('--approval-over-recipient-day <usd>', 'approval threshold per recipient and day in USD')
    .option('--approval-over-day <usd>', 'approval threshold for the total of a day in USD')
    .option('--max-recipient-day <usd>', 'largest total per recipient and day in USD')
    .option('--hold-duplicates <days>', 'days in which the same amount to the same recipient needs an approval')
    .option('--max-items <count>', 'largest number of items in one call')
    .option('--rpm <count>', 'requests per minute')
    .option('--countries <list>', 'comma-separated names of the only countries that it may pay to')
    .option('--addresses <list>', 'comma-separated addresses or CIDR blocks that it may call from')
    .option(
      '--origins <list>',
      'comma-separated web origins that may call from browsers (CORS), such as https://shop.example',
    )
    .option('--require-idempotency-key', 'reject payments and writes without the header Idempotency-Key')
    .option('--person-daily-cap <usd>', 'daily cap of each person in USD')
    .option('--person-monthly-cap <usd>', 'monthly cap of each person in USD')
    .option('--person-max-item <usd>', 'largest amount of one item of a person in USD')
    .option('--person-rpm <count>', 'requests per person and minute')
    .option('--beneficiaries-only', 'pay only recipients of the register (clients beneficiaries)')
    .option(
      '--beneficiary-cool-off <seconds>',
      'seconds in which payouts to a newly registered recipient need an approval',
    );
}

/**
 * Returns the limits that the options set. Other limits are left out.
 * @throws ClientError that names the option.
 */
export function chosenLimits(options: LimitOptions): Partial<Limits> {
  const given: Partial<Record<keyof Limits, unknown>> = {
    dailyCapUsd: amount(options.dailyCap),
    monthlyCapUsd: amount(options.monthlyCap),
    maxItemUsd: amount(options.maxItem),
    maxCallUsd: amount(options.maxCall),
    approvalOverUsd: amount(options.approvalOver),
    approvalOverRecipientDayUsd: amount(options.approvalOverRecipientDay),
    approvalOverDayUsd: amount(options.approvalOverDay),
    maxRecipientDayUsd: amount(options.maxRecipientDay),
    holdDuplicatesDays: count(options.holdDuplicates),
    maxItems: count(options.maxItems),
    requestsPerMinute: count(options.rpm),
    countries: list(options.countries),
    addresses: list(options.addresses),
    origins: list(options.origins),
    requireIdempotencyKey: options.requireIdempotencyKey,
    beneficiariesOnly: options.beneficiariesOnly,
    beneficiaryCoolOffSeconds: count(options.beneficiaryCoolOff),
    personDailyCapUsd: amount(options.personDailyCap),
    personMonthlyCapUsd: amount(options.personMonthlyCap),
    personMaxItemUsd: amount(options.personMaxItem),
    personRequestsPerMinute: count(options.personRpm),
  };
  const named = LIMIT_KEYS.filter((key) => given[key] !== undefined);
  const wrong = named.filter((key) => given[key] !== null && !LIMIT_FIELDS[key].test(given[key]));
  if (wrong.length > 0) {
    throw new ClientError(wrong.map((key) => `${OPTION_OF[key]} ${LIMIT_FIELDS[key].must}, or none.`).join(' '));
  }
  return Object.fromEntries(named.map((key) => [key, given[key]]));
}

/** Returns the limits of a client in the short form that tables show. */
export function limitsInShort(client: ListedClient): string {
  const parts = [
    client.daily_cap_usd && `${client.daily_cap_usd}/day`,
    client.monthly_cap_usd && `${client.monthly_cap_usd}/month`,
    client.max_item_usd && `${client.max_item_usd}/item`,
    client.max_call_usd && `${client.max_call_usd}/call`,
    client.approval_over_usd && `approval over ${client.approval_over_usd}`,
    client.approval_over_recipient_day_usd && `approval over ${client.approval_over_recipient_day_usd}/recipient/day`,
    client.approval_over_day_usd && `approval over ${client.approval_over_day_usd}/day`,
    client.max_recipient_day_usd && `${client.max_recipient_day_usd}/recipient/day`,
    client.hold_duplicates_days && `duplicates held for ${client.hold_duplicates_days} days`,
    client.max_items && `${client.max_items} items`,
    client.requests_per_minute && `${client.requests_per_minute} rpm`,
    client.countries.length > 0 && `${client.countries.length} countries`,
    client.addresses.length > 0 && `${client.addresses.length} addresses`,
    client.origins.length > 0 && `${client.origins.length} origins`,
    client.require_idempotency_key && 'idempotency key',
    client.beneficiaries_only && 'registered recipients',
    client.person_daily_cap_usd && `${client.person_daily_cap_usd}/person/day`,
    client.person_monthly_cap_usd && `${client.person_monthly_cap_usd}/person/month`,
    client.person_max_item_usd && `${client.person_max_item_usd}/item of a person`,
    client.person_requests_per_minute && `${client.person_requests_per_minute} rpm/person`,
    client.beneficiary_cool_off_seconds && `new recipients held for ${client.beneficiary_cool_off_seconds} s`,
  ];
  return parts.filter(Boolean).join(', ') || 'none';
}

const NONE = 'none';

/** Reads an amount. Other text stays as it is, and every rule rejects it. */
function amount(text: string | undefined): Decimal | string | null | undefined {
  return text === NONE ? null : (readUsd(text) ?? text);
}

function count(text: string | undefined): number | string | null | undefined {
  return text === NONE ? null : text && wholeNumber(text);
}

/** Reads a whole number. Other text stays as it is, and every rule rejects it. */
export function wholeNumber(text: string): number | string {
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}

function list(text: string | undefined): string[] | string | undefined {
  if (text === undefined || text === NONE) return text && [];
  const given = [...new Set(words(text))];
  return given.length > 0 ? given : text; // an empty list is a mistake, not a removed limit
}
