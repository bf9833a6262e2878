import { LIMIT_KEYS, LimitsDocument } from '../../access/clients/limits/limits';
import {
  CLIENT_KINDS,
  ClientKind,
  KEY_KINDS,
  KEY_STATES,
  ListedClient,
  ListedKey,
} from '../../access/clients/listed';
import { shownLimit, withLimits } from '../../http/validation/rules/limit-properties';
import { OPERATION_NAMES } from '../../operations/catalogue/catalogue';
import { SCOPES } from '../../operations/catalogue/scopes';
import {
  BOOLEAN,
  described,
  INSTANT,
  INTEGER,
  nullable,
  optional,
  orNull,
  TEXT,
  UUID,
} from '../../platform/schema/fields';
import { UsageDto } from '../limits/cap';

const WORDS = { type: 'array', items: TEXT };

class ClientIdentity {
  @described(UUID, 'ID of the client.') id!: string;
  @described({ type: 'string', example: 'shop' }, 'Name of the client.') name!: string;
  @described({ type: 'string', example: 'main' }, 'Account at the upstream.') account!: string;
  @described({ enum: CLIENT_KINDS }, 'Kind of client. Only a `server` has secret keys.')
  kind!: ClientKind;
  @described({ type: 'array', items: { enum: SCOPES } }, 'Scopes of its keys.') scopes!: string[];
  @nullable({ type: 'array', items: { enum: [...OPERATION_NAMES] } }, 'Operations. Null allows all.')
  operations!: string[] | null;
}

export class ClientDto
  extends withLimits<ClientIdentity, LimitsDocument>(ClientIdentity, LIMIT_KEYS, shownLimit)
  implements ListedClient
{
  @nullable(TEXT, 'Issuer of its access tokens. Null disables them.')
  token_issuer!: string | null;
  @nullable(TEXT, 'Audience of its tokens.') token_audience!: string | null;
  @nullable(TEXT, "URL of the issuer's public keys.") token_jwks_uri!: string | null;
  @described(WORDS, 'Signature algorithms of its tokens.') token_algorithms!: string[];
  @nullable(TEXT, 'ID of the app at the issuer.') token_client_id!: string | null;
  @described(BOOLEAN, 'Whether its tokens must be bound to a key (DPoP).') token_dpop!: boolean;
  @described(INTEGER, 'Maximum age of its tokens in seconds, from `iat`.') token_max_age!: number;
  @nullable(TEXT, 'OpenID provider of sign-ins to its pages. Null disables them.')
  page_issuer!: string | null;
  @nullable(TEXT, 'ID of the client at `page_issuer`.') page_client_id!: string | null;
  @described(INSTANT, 'Time of the creation.') created_at!: Date;
  @described(INTEGER, 'Number of valid secret keys.') active_keys!: number;
  @described({ type: UsageDto }, 'Spending against its caps.') usage!: UsageDto;
}

export class NewClientDto extends ClientDto {
  @optional(TEXT, 'First key, shown once and not stored. Absent for a public client.') key?: string;
  @optional(orNull(INSTANT), 'Expiry of the key. Null never expires.') expires_at?: Date | null;
}

export class ClientsDto {
  @described({ type: [ClientDto] }, 'Clients, by name.') clients!: ClientDto[];
}

export class KeyDto implements ListedKey {
  @described(UUID, 'ID of the key.') id!: string;
  @described(TEXT, 'Name of the client.') client!: string;
  @described(
    { enum: KEY_KINDS },
    'Only a `secret` key has a text. `provider` represents all access tokens of the client, `page` all ' +
      'sessions on its pages, and `sign_in` the sessions of a person.',
  )
  kind!: ListedKey['kind'];
  @described({ type: 'string', example: 'pp_shop_…x7Qa' }, 'Beginning and end of the key.') hint!: string;
  @nullable(TEXT, 'ID of the owner, if any.') person!: string | null;
  @nullable(TEXT, '`sub` of the person at the OpenID provider. Null for a key with a secret.')
  subject!: string | null;
  @described(
    { enum: KEY_STATES },
    'State of the key. An `unclaimed` key has no secret until its owner claims it.',
  )
  state!: ListedKey['state'];
  @described(INSTANT, 'Time of the issue.') created_at!: Date;
  @nullable(INSTANT, 'Expiry of the key. Null never expires.') expires_at!: Date | null;
  @nullable(INSTANT, 'Time of the revocation.') revoked_at!: Date | null;
  @nullable(INSTANT, 'Time of the last use, to the minute.') last_used_at!: Date | null;
  @nullable(UUID, 'The approved change that issued a personal key. Null for other keys.')
  change_id!: string | null;
  @nullable(INSTANT, 'Deadline of the claim. Null for keys without a claim.') claim_until!: Date | null;
  @nullable(INSTANT, 'Time of the claim.') claimed_at!: Date | null;
  @described(WORDS, 'Claimants: the owner after a sign-in, or the approver with the claim code and its user.')
  claimed_by!: string[];
}

export class KeysDto {
  @described({ type: [KeyDto] }, 'Keys, oldest first.') keys!: KeyDto[];
  @described(INTEGER, 'Number of valid ephemeral keys, which are not listed.') active_ephemeral_keys!: number;
}

export class NewKeyDto {
  @described(UUID, 'ID of the key.') id!: string;
  @described(TEXT, 'Name of the client.') client!: string;
  @described(TEXT, 'The key, shown once and not stored.') key!: string;
  @nullable(TEXT, 'ID of the owner, if any.') person!: string | null;
  @nullable(INSTANT, 'Expiry of the key. Null never expires.') expires_at!: Date | null;
}

export class ClaimedKeyDto extends NewKeyDto {
  @described(TEXT, 'The requester.') requested_by!: string;
  @described(TEXT, 'The approver.') approved_by!: string;
  @described(WORDS, 'Claimants, as in `GET /v1/clients/{name}/keys`.') claimed_by!: string[];
}

export class NewSignInDto {
  @described(UUID, "ID of the person's key, which has no secret. Revoke it to end the sign-in.")
  id!: string;
  @described(TEXT, 'Name of the client.') client!: string;
  @described(TEXT, 'ID of the person in records.') person!: string;
  @described(TEXT, 'OpenID provider of the sign-in.') issuer!: string;
  @described(TEXT, '`sub` of the person at the provider.') subject!: string;
  @nullable(INSTANT, 'Expiry of the sign-in. Null never expires.') expires_at!: Date | null;
}

export class RevokedKeyDto {
  @described(UUID, 'ID of the key.') id!: string;
  @described(INSTANT, 'Time of the revocation.') revoked_at!: Date;
}
