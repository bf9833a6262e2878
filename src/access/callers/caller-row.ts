import { Scope } from '../../operations/scopes';
import { LimitsRow, limitsOf } from '../clients/limits';
import { Caller } from './caller';

/** A valid key, with its client. */
export interface CallerRow extends LimitsRow {
  keyId: string;
  person: string | null;
  clientId: string;
  clientName: string;
  account: string;
  scopes: Scope[];
  operations: string[] | null;
  blocksRecipients: boolean;
  rights: string;
}

/** The columns of a key `k` (api_key) and its client `c`. */
export const CALLER_COLUMNS = `k.id AS "keyId", k.person, c.id AS "clientId", c.xmin::text AS rights, c.name AS "clientName", c.account, c.scopes, c.operations,
    c.daily_cap_usd AS "dailyCapUsd", c.monthly_cap_usd AS "monthlyCapUsd", c.max_item_usd AS "maxItemUsd",
    c.max_call_usd AS "maxCallUsd", c.approval_over_usd AS "approvalOverUsd", c.max_items AS "maxItems",
    c.approval_over_recipient_day_usd AS "approvalOverRecipientDayUsd", c.approval_over_day_usd AS "approvalOverDayUsd",
    c.max_recipient_day_usd AS "maxRecipientDayUsd", c.hold_duplicates_days AS "holdDuplicatesDays",
    c.requests_per_minute AS "requestsPerMinute", c.countries, c.addresses, c.origins,
    c.require_idempotency_key AS "requireIdempotencyKey", c.beneficiaries_only AS "beneficiariesOnly",
    c.beneficiary_cool_off_seconds AS "beneficiaryCoolOffSeconds", c.blocks_recipients AS "blocksRecipients",
    c.person_daily_cap_usd AS "personDailyCapUsd", c.person_monthly_cap_usd AS "personMonthlyCapUsd",
    c.person_max_item_usd AS "personMaxItemUsd", c.person_requests_per_minute AS "personRequestsPerMinute"`;

export function callerOf(row: CallerRow): Caller {
  const { account, clientId, clientName, keyId, operations, person, blocksRecipients, rights } = row;
  return {
    clientId,
    clientName,
    account,
    keyId,
    credential: { kind: 'key' },
    identity: person === null ? null : { source: 'key', issuer: null, name: person },
    scopes: new Set(row.scopes),
    operations: operations && new Set(operations),
    limits: limitsOf(row),
    blocksRecipients,
    rights,
  };
}
