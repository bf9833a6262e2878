import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { SCOPES } from '../../operations/scopes';
import { OPERATION_NAMES } from '../../operations/catalogue';
import { CLIENT_KINDS, ClientKind } from '../../access/clients/client-kind';
import { KEY_KINDS, KEY_STATES, ListedClient, ListedKey } from '../../access/clients/listed';
import { UsageDto } from '../limits/cap';

const described = (description: string, schema: object) => ApiProperty({ description, ...schema });
const orNull = (description: string, schema: object) => described(description, { anyOf: [schema, { type: 'null' }] });
const words = (description: string) => described(description, { type: 'array', items: { type: 'string' } });
const INSTANT = { type: 'string', format: 'date-time' };
const USD = { type: 'string', pattern: '^\\d+(\\.\\d+)?$' };
const UUID = { type: 'string', format: 'uuid' };
const COUNT = { type: 'integer' };

export class ClientDto implements ListedClient {
  @described('ID of the client.', UUID) id!: string;
  @described('Name of the client.', { type: 'string', example: 'shop' }) name!: string;
  @described('Its account at the upstream.', { type: 'string', example: 'main' }) account!: string;
  @described('`server`: it has secret keys. `public`: it has none.', { enum: CLIENT_KINDS }) kind!: ClientKind;
  @described('Scopes of its keys.', { type: 'array', items: { enum: SCOPES } }) scopes!: string[];
  @orNull('Operations that it may use. Null: all.', { type: 'array', items: { enum: [...OPERATION_NAMES] } })
  operations!: string[] | null;
  @orNull('Daily cap in US dollars, UTC.', USD) daily_cap_usd!: string | null;
  @orNull('Monthly cap in US dollars, UTC.', USD) monthly_cap_usd!: string | null;
  @orNull('Limit per item in US dollars.', USD) max_item_usd!: string | null;
  @orNull('Limit per call in US dollars.', USD) max_call_usd!: string | null;
  @orNull('Approval threshold per call in US dollars.', USD) approval_over_usd!: string | null;
  @orNull('Approval threshold per recipient and day in US dollars, UTC.', USD)
  approval_over_recipient_day_usd!: string | null;
  @orNull('Approval threshold per day in US dollars, UTC.', USD) approval_over_day_usd!: string | null;
  @orNull('Limit per recipient and day in US dollars, UTC.', USD) max_recipient_day_usd!: string | null;
  @orNull('Days in which the same amount to the same recipient needs an approval.', COUNT)
  hold_duplicates_days!: number | null;
  @orNull('Limit of items per call.', COUNT) max_items!: number | null;
  @orNull('Limit of requests per minute.', COUNT) requests_per_minute!: number | null;
  @words('Countries that it may pay to. Empty: any.') countries!: string[];
  @words('Addresses and CIDR blocks that it may call from. Empty: any.') addresses!: string[];
  @words('Web origins whose pages may call. Empty: none.') origins!: string[];
  @described('Whether payments and writes require an Idempotency-Key.', { type: 'boolean' })
  require_idempotency_key!: boolean;
  @described('Whether it pays only recipients of its register.', { type: 'boolean' }) beneficiaries_only!: boolean;
  @orNull('Seconds in which payouts to a newly registered recipient need an approval.', COUNT)
  beneficiary_cool_off_seconds!: number | null;
  @orNull('Daily cap of each person in US dollars, UTC.', USD) person_daily_cap_usd!: string | null;
  @orNull('Monthly cap of each person in US dollars, UTC.', USD) person_monthly_cap_usd!: string | null;
  @orNull('Limit per item of a person in US dollars.', USD) person_max_item_usd!: string | null;
  @orNull('Limit of requests per person and minute.', COUNT) person_requests_per_minute!: number | null;
  @orNull('Issuer of the access tokens that it takes. Null: it takes none.', { type: 'string' })
  token_issuer!: string | null;
  @orNull('Audience of its tokens.', { type: 'string' }) token_audience!: string | null;
  @orNull('Address of the public keys of the issuer.', { type: 'string' }) token_jwks_uri!: string | null;
  @words('Signature algorithms of its tokens.') token_algorithms!: string[];
  @orNull('ID of the app at the issuer.', { type: 'string' }) token_client_id!: string | null;
  @described('Whether its tokens must be bound to a key (DPoP).', { type: 'boolean' }) token_dpop!: boolean;
  @described('Seconds from `iat` after which its tokens end.', { type: 'integer' }) token_max_age!: number;
  @orNull('OpenID provider of sign-ins to its pages. Null: none.', { type: 'string' }) page_issuer!: string | null;
  @orNull('ID of the client there.', { type: 'string' }) page_client_id!: string | null;
  @described('When it was created.', INSTANT) created_at!: Date;
  @described('Number of valid secret keys.', COUNT) active_keys!: number;
  @ApiProperty({ type: UsageDto, description: 'Spending against its caps.' }) usage!: UsageDto;
}

export class NewClientDto extends ClientDto {
  @ApiPropertyOptional({
    type: 'string',
    description: 'Its first key. It is shown once and not stored. A public client has none.',
  })
  key?: string;
  @ApiPropertyOptional({
    anyOf: [INSTANT, { type: 'null' }],
    description: 'Expiry of the key. Null: valid until it is revoked.',
  })
  expires_at?: Date | null;
}

export class ClientsDto {
  @ApiProperty({ type: [ClientDto], description: 'Clients, by name.' }) clients!: ClientDto[];
}

export class KeyDto implements ListedKey {
  @described('ID of the key.', UUID) id!: string;
  @described('Name of the client.', { type: 'string' }) client!: string;
  @described(
    '`provider`: it stands for all access tokens of the client. `page`: for all sessions on its pages. `sign_in`: for the sessions of a person.',
    { enum: KEY_KINDS },
  )
  kind!: ListedKey['kind'];
  @described('Beginning and end of the key.', { type: 'string', example: 'pp_shop_…x7Qa' }) hint!: string;
  @orNull('ID of the person who owns the key, if any.', { type: 'string' }) person!: string | null;
  @orNull('`sub` of the person at the OpenID provider. Null: the key has a secret.', { type: 'string' })
  subject!: string | null;
  @described('Whether the key is valid. `unclaimed`: it has no secret until its person claims it.', {
    enum: KEY_STATES,
  })
  state!: ListedKey['state'];
  @described('When it was issued.', INSTANT) created_at!: Date;
  @orNull('Expiry of the key. Null: valid until it is revoked.', INSTANT) expires_at!: Date | null;
  @orNull('When it was revoked.', INSTANT) revoked_at!: Date | null;
  @orNull('When it was last used, to the minute.', INSTANT) last_used_at!: Date | null;
  @orNull('The change by which two persons agreed to a personal key. Null: none did.', UUID) change_id!: string | null;
  @orNull('When it can no longer be claimed. Null: it is not claimed.', INSTANT) claim_until!: Date | null;
  @orNull('When its secret was made. Null: it was not claimed.', INSTANT) claimed_at!: Date | null;
  @words('Who claimed it: its person by a sign-in, or the approver, who had its claim code, and who used the code.')
  claimed_by!: string[];
}

export class KeysDto {
  @ApiProperty({ type: [KeyDto], description: 'Keys, oldest first.' }) keys!: KeyDto[];
  @described('Number of valid ephemeral keys, which are not listed.', COUNT) active_ephemeral_keys!: number;
}

export class NewKeyDto {
  @described('ID of the key.', UUID) id!: string;
  @described('Name of the client.', { type: 'string' }) client!: string;
  @described('The key. It is shown once and not stored.', { type: 'string' }) key!: string;
  @orNull('ID of the person who owns the key, if any.', { type: 'string' }) person!: string | null;
  @orNull('Expiry of the key. Null: valid until it is revoked.', INSTANT) expires_at!: Date | null;
}

/** A claimed key. */
export class ClaimedKeyDto extends NewKeyDto {
  @described('Who requested it.', { type: 'string' }) requested_by!: string;
  @described('Who approved it.', { type: 'string' }) approved_by!: string;
  @words('Who claimed it, as `GET /v1/clients/{name}/keys` lists it.') claimed_by!: string[];
}

export class NewSignInDto {
  @described('ID of the key of the person, which has no secret. Revoke it to end the sign-in.', UUID) id!: string;
  @described('Name of the client.', { type: 'string' }) client!: string;
  @described('ID of the person in records.', { type: 'string' }) person!: string;
  @described('Provider at which the person signs in.', { type: 'string' }) issuer!: string;
  @described('`sub` of the person there.', { type: 'string' }) subject!: string;
  @orNull('When it ends. Null: when it is revoked.', INSTANT) expires_at!: Date | null;
}

export class RevokedKeyDto {
  @described('ID of the key.', UUID) id!: string;
  @described('When the key was revoked.', INSTANT) revoked_at!: Date;
}
