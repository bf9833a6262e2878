import { ApiPropertyOptional } from '@nestjs/swagger';

const text = (description: string) => ApiPropertyOptional({ type: 'string', description });
const textOrNull = (description: string, more: object = {}) =>
  ApiPropertyOptional({ anyOf: [{ type: 'string', ...more }, { type: 'null' }], description });
const count = (description: string) =>
  ApiPropertyOptional({ anyOf: [{ type: 'integer' }, { type: 'null' }], description });
const number = (description: string) => ApiPropertyOptional({ type: 'integer', description });
const words = (description: string) => ApiPropertyOptional({ type: [String], description });
const USD = { pattern: '^\\d+(\\.\\d+)?$' };
const INSTANT = { format: 'date-time' };

/** The fields of a client, a key, a wallet or the configuration that an act changed, or what it deleted. The others are left out. */
export class ActivityState {
  @text('Its account at the upstream.') account?: string;
  @text('Kind of the client or the key.') kind?: string;
  @words('Scopes of its keys.') scopes?: string[];
  @ApiPropertyOptional({
    anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }],
    description: 'Operations that it may use. Null: all.',
  })
  operations?: string[] | null;
  @textOrNull('Daily cap in US dollars.', USD) daily_cap_usd?: string | null;
  @textOrNull('Monthly cap in US dollars.', USD) monthly_cap_usd?: string | null;
  @textOrNull('Limit per item in US dollars.', USD) max_item_usd?: string | null;
  @textOrNull('Limit per call in US dollars.', USD) max_call_usd?: string | null;
  @textOrNull('Approval threshold per call in US dollars.', USD) approval_over_usd?: string | null;
  @textOrNull('Approval threshold per recipient and day in US dollars.', USD)
  approval_over_recipient_day_usd?: string | null;
  @textOrNull('Approval threshold per day in US dollars.', USD) approval_over_day_usd?: string | null;
  @textOrNull('Limit per recipient and day in US dollars.', USD) max_recipient_day_usd?: string | null;
  @count('Days in which the same amount to the same recipient needs an approval.')
  hold_duplicates_days?: number | null;
  @count('Limit of items per call.') max_items?: number | null;
  @count('Limit of requests per minute.') requests_per_minute?: number | null;
  @words('Countries that it may pay to. Empty: any.') countries?: string[];
  @words('Addresses that it may call from. Empty: any.') addresses?: string[];
  @words('Web origins whose pages may call. Empty: none.') origins?: string[];
  @ApiPropertyOptional({ type: 'boolean', description: 'Whether payments and writes require an Idempotency-Key.' })
  require_idempotency_key?: boolean;
  @ApiPropertyOptional({ type: 'boolean', description: 'Whether it pays only registered recipients.' })
  beneficiaries_only?: boolean;
  @count('Seconds in which payouts to a newly registered recipient need an approval.')
  beneficiary_cool_off_seconds?: number | null;
  @textOrNull('Daily cap of each person in US dollars, UTC.', USD) person_daily_cap_usd?: string | null;
  @textOrNull('Monthly cap of each person in US dollars, UTC.', USD) person_monthly_cap_usd?: string | null;
  @textOrNull('Limit per item of a person in US dollars.', USD) person_max_item_usd?: string | null;
  @count('Limit of requests per person and minute.') person_requests_per_minute?: number | null;
  @textOrNull('Issuer of the access tokens that it takes. Null: it takes none.') token_issuer?: string | null;
  @textOrNull('Audience of its tokens.') token_audience?: string | null;
  @textOrNull('Address of the public keys of the issuer.') token_jwks_uri?: string | null;
  @words('Signature algorithms of its tokens.') token_algorithms?: string[];
  @textOrNull('ID of the app at the issuer.') token_client_id?: string | null;
  @ApiPropertyOptional({ type: 'boolean', description: 'Whether its tokens must be bound to a key (DPoP).' })
  token_dpop?: boolean;
  @ApiPropertyOptional({ type: 'integer', description: 'Seconds from `iat` after which its tokens end.' })
  token_max_age?: number;
  @textOrNull('OpenID provider of sign-ins to its pages. Null: none.') page_issuer?: string | null;
  @textOrNull('ID of the client there.') page_client_id?: string | null;
  @text('ID of the entry.') beneficiary_id?: string;
  @text('Its list.') list?: string;
  @text('Its recipient, masked.') recipient?: string;
  @ApiPropertyOptional({
    type: 'array',
    items: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    description: 'Added to `allowed`, or removed from `blocked`; masked. Null: erased.',
  })
  recipients?: (string | null)[];
  @text('Beginning and end of the key.') hint?: string;
  @text('Provider at which the person signs in.') issuer?: string;
  @text('`sub` of the person there.') subject?: string;
  @textOrNull('ID of the person who owns the key.') person?: string | null;
  @text('ID of the end user.') person_id?: string;
  @count('Number of recipients that the key may pay. Null: any.') recipient_count?: number | null;
  @text('Limit of all payments of the key in US dollars.') max_total_usd?: string;
  @textOrNull('Expiry of the key. Null: valid until it is revoked.', INSTANT) expires_at?: string | null;
  @textOrNull('When the key was revoked, or the credentials of the person.', INSTANT) revoked_at?: string | null;
  @text('ID of the wallet.') wallet_id?: string;
  @textOrNull('Type of the wallet.') wallet_type?: string | null;
  @text('Balance of the wallet in US dollars.') balance_usd?: string;
  @textOrNull('Balance in US dollars below which the wallet is low.') low_balance_usd?: string | null;
  @count('How long the balance lasts at the pace of the last day, in seconds. Null: nothing was spent.')
  runway_seconds?: number | null;
  @text('ID of the change that waits or waited for a second person.') change_id?: string;
  @text('Who requested a claimed key.') requested_by?: string;
  @text('Who approved a claimed key.') approved_by?: string;
  @words('Who claimed the key, and may know it.') claimed_by?: string[];
  @text('ID of the stop.') stop_id?: string;
  @text('What the stop stops, and its reason.') stops?: string;
  @ApiPropertyOptional({
    type: 'boolean',
    description: "Whether the stop is lifted although the upstream's list of a lost time was not read.",
  })
  unreconciled?: boolean;
  @text('Name of the client to be created.') name?: string;
  @words('Acts of one person that need two.') acts?: string[];
  @ApiPropertyOptional({ type: 'boolean', description: 'Whether a second person must agree.' }) dual_control?: boolean;
  @ApiPropertyOptional({ enum: ['proxy', 'worker'], description: 'What was started with a changed configuration.' })
  process?: string;
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    description: 'Changed settings by variable. Null: not set. A secret is a part of its SHA-256.',
  })
  configuration?: Record<string, string | null>;
  @text('Kind of the erased contact.') erased?: string;
  @number('Number of erased places.') places?: number;
  @text('What was pruned: `people` or `calls`.') pruned?: string;
  @text('The pruned month.') month?: string;
  @number('Number of pruned calls.') calls?: number;
  @number('Number of calls that stay, because they have no final outcome.') kept?: number;
}
