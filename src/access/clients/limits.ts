import { Decimal } from 'decimal.js';

/** The limits of a client. Null or an empty list means no limit. */
export interface Limits {
  /** US dollars for operations that pay, from midnight to midnight UTC. */
  dailyCapUsd: Decimal | null;
  /** US dollars for operations that pay, by calendar month (UTC). */
  monthlyCapUsd: Decimal | null;
  maxItemUsd: Decimal | null;
  maxCallUsd: Decimal | null;
  /** A payout over this amount needs an approval. */
  approvalOverUsd: Decimal | null;
  /** A payout with which a recipient would get more in a day (UTC) needs an approval. */
  approvalOverRecipientDayUsd: Decimal | null;
  /** A payout with which the client would pay more in a day (UTC) needs an approval. */
  approvalOverDayUsd: Decimal | null;
  /** The most that one recipient may get in a day (UTC). */
  maxRecipientDayUsd: Decimal | null;
  /** A payout of the same amount to the same recipient within so many days needs an approval. */
  holdDuplicatesDays: number | null;
  /** The most items in one call. */
  maxItems: number | null;
  requestsPerMinute: number | null;
  /** The names of the countries that may be paid to. */
  countries: string[];
  /** The CIDR blocks that it may call from. */
  addresses: string[];
  /** The web origins whose pages may call (CORS). */
  origins: string[];
  requireIdempotencyKey: boolean;
  /** Whether only registered recipients may be paid. */
  beneficiariesOnly: boolean;
  /** A payout to a recipient that was registered less than so many seconds ago needs an approval. */
  beneficiaryCoolOffSeconds: number | null;
  /** US dollars that one person may pay in a day (UTC), unless the person has an exception. */
  personDailyCapUsd: Decimal | null;
  /** US dollars that one person may pay in a calendar month (UTC), unless the person has an exception. */
  personMonthlyCapUsd: Decimal | null;
  /** The most that an item of a person may pay, unless the person has an exception. */
  personMaxItemUsd: Decimal | null;
  /** The requests of one person in a minute, unless the person has an exception. */
  personRequestsPerMinute: number | null;
}

export type Usd = { toFixed(): string } | string | null;

/** A client's row, as Prisma or a query of our own returns it. */
export type LimitsRow = Omit<Limits, `${string}Usd`> & { [name in keyof Limits & `${string}Usd`]: Usd };

export const NO_LIMITS: Limits = {
  dailyCapUsd: null,
  monthlyCapUsd: null,
  maxItemUsd: null,
  maxCallUsd: null,
  approvalOverUsd: null,
  approvalOverRecipientDayUsd: null,
  approvalOverDayUsd: null,
  maxRecipientDayUsd: null,
  holdDuplicatesDays: null,
  maxItems: null,
  requestsPerMinute: null,
  countries: [],
  addresses: [],
  origins: [],
  requireIdempotencyKey: false,
  beneficiariesOnly: false,
  beneficiaryCoolOffSeconds: null,
  personDailyCapUsd: null,
  personMonthlyCapUsd: null,
  personMaxItemUsd: null,
  personRequestsPerMinute: null,
};

export function limitsOf(row: LimitsRow): Limits {
  return {
    dailyCapUsd: toDecimal(row.dailyCapUsd),
    monthlyCapUsd: toDecimal(row.monthlyCapUsd),
    maxItemUsd: toDecimal(row.maxItemUsd),
    maxCallUsd: toDecimal(row.maxCallUsd),
    approvalOverUsd: toDecimal(row.approvalOverUsd),
    approvalOverRecipientDayUsd: toDecimal(row.approvalOverRecipientDayUsd),
    approvalOverDayUsd: toDecimal(row.approvalOverDayUsd),
    maxRecipientDayUsd: toDecimal(row.maxRecipientDayUsd),
    holdDuplicatesDays: row.holdDuplicatesDays,
    maxItems: row.maxItems,
    requestsPerMinute: row.requestsPerMinute,
    countries: row.countries,
    addresses: row.addresses,
    origins: row.origins,
    requireIdempotencyKey: row.requireIdempotencyKey,
    beneficiariesOnly: row.beneficiariesOnly,
    beneficiaryCoolOffSeconds: row.beneficiaryCoolOffSeconds,
    personDailyCapUsd: toDecimal(row.personDailyCapUsd),
    personMonthlyCapUsd: toDecimal(row.personMonthlyCapUsd),
    personMaxItemUsd: toDecimal(row.personMaxItemUsd),
    personRequestsPerMinute: row.personRequestsPerMinute,
  };
}

/** Returns whether a client has a limit in US dollars. Such a client must state the amount of every item. */
export function limitsMoney(limits: Limits): boolean {
  return MONEY.some((name) => limits[name] !== null);
}

const MONEY = [
  'dailyCapUsd',
  'monthlyCapUsd',
  'maxItemUsd',
  'maxCallUsd',
  'approvalOverUsd',
  'approvalOverRecipientDayUsd',
  'approvalOverDayUsd',
  'maxRecipientDayUsd',
  'personDailyCapUsd',
  'personMonthlyCapUsd',
  'personMaxItemUsd',
] as const satisfies (keyof Limits)[];

/** Prisma returns a Decimal of its own, and pg returns text. */
export function toDecimal(usd: Usd): Decimal | null {
  return usd === null ? null : new Decimal(typeof usd === 'string' ? usd : usd.toFixed());
}
