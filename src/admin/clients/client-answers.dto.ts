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
  @described({ type: 'string', example: 'main' }, 'Its account at the upstream.') account!: string;
  @described({ enum: CLIENT_KINDS }, '`server`: it has secret keys. `public`: it has none.')
  kind!: ClientKind;
  @described({ type: 'array', items: { enum: SCOPES } }, 'Scopes of its keys.') scopes!: string[];
  @nullable(
    { type: 'array', items: { enum: [...OPERATION_NAMES] } },
    'Operations that it may use. Null: all.',
  )
  operations!: string[] | null;
}

export class ClientDto
  extends withLimits<ClientIdentity, LimitsDocument>(ClientIdentity, LIMIT_KEYS, shownLimit)
  implements ListedClient
{
  @nullable(TEXT, 'Issuer of the access tokens that it takes. Null: it takes none.') token_issuer!:
    | string
    | null;
  @nullable(TEXT, 'Audience of its tokens.') token_audience!: string | null;
  @nullable(TEXT, 'Address of the public keys of the issuer.') token_jwks_uri!: string | null;
  @described(WORDS, 'Signature algorithms of its tokens.') token_algorithms!: string[];
  @nullable(TEXT, 'ID of the app at the issuer.') token_client_id!: string | null;
  @described(BOOLEAN, 'Whether its tokens must be bound to a key (DPoP).') token_dpop!: boolean;
  @described(INTEGER, 'Seconds from `iat` after which its tokens end.') token_max_age!: number;
  @nullable(TEXT, 'OpenID provider of sign-ins to its pages. Null: none.') page_issuer!: string | null;
  @nullable(TEXT, 'ID of the client there.') page_client_id!: string | null;
  @described(INSTANT, 'When it was created.') created_at!: Date;
  @described(INTEGER, 'Number of valid secret keys.') active_keys!: number;
  @described({ type: UsageDto }, 'Spending against its caps.') usage!: UsageDto;
}

export class NewClientDto extends ClientDto {
  @optional(TEXT, 'Its first key. It is shown once and not stored. A public client has none.') key?: string;
  @optional(orNull(INSTANT), 'Expiry of the key. Null: valid until it is revoked.') expires_at?: Date | null;
}

export class ClientsDto {
  @described({ type: [ClientDto] }, 'Clients, by name.') clients!: ClientDto[];
}

export class KeyDto implements ListedKey {
  @described(UUID, 'ID of the key.') id!: string;
  @described(TEXT, 'Name of the client.') client!: string;
  @described(
    { enum: KEY_KINDS },
    '`provider`: it stands for all access tokens of the client. `page`: for all sessions on its pages. ' +
      '`sign_in`: for the sessions of a person.',
  )
  kind!: ListedKey['kind'];
  @described({ type: 'string', example: 'pp_shop_…x7Qa' }, 'Beginning and end of the key.') hint!: string;
  @nullable(TEXT, 'ID of the person who owns the key, if any.') person!: string | null;
  @nullable(TEXT, '`sub` of the person at the OpenID provider. Null: the key has a secret.') subject!:
    | string
    | null;
  @described(
    { enum: KEY_STATES },
    'Whether the key is valid. `unclaimed`: it has no secret until its person claims it.',
  )
  state!: ListedKey['state'];
  @described(INSTANT, 'When it was issued.') created_at!: Date;
  @nullable(INSTANT, 'Expiry of the key. Null: valid until it is revoked.') expires_at!: Date | null;
  @nullable(INSTANT, 'When it was revoked.') revoked_at!: Date | null;
  @nullable(INSTANT, 'When it was last used, to the minute.') last_used_at!: Date | null;
  @nullable(UUID, 'The change by which two persons agreed to a personal key. Null: none did.') change_id!:
    | string
    | null;
  @nullable(INSTANT, 'When it can no longer be claimed. Null: it is not claimed.') claim_until!: Date | null;
  @nullable(INSTANT, 'When its secret was made. Null: it was not claimed.') claimed_at!: Date | null;
  @described(
    WORDS,
    'Who claimed it: its person by a sign-in, or the approver, who had its claim code, and who used the ' +
      'code.',
  )
  claimed_by!: string[];
}

export class KeysDto {
  @described({ type: [KeyDto] }, 'Keys, oldest first.') keys!: KeyDto[];
  @described(INTEGER, 'Number of valid ephemeral keys, which are not listed.') active_ephemeral_keys!: number;
}

export class NewKeyDto {
  @described(UUID, 'ID of the key.') id!: string;
  @described(TEXT, 'Name of the client.') client!: string;
  @described(TEXT, 'The key. It is shown once and not stored.') key!: string;
  @nullable(TEXT, 'ID of the person who owns the key, if any.') person!: string | null;
  @nullable(INSTANT, 'Expiry of the key. Null: valid until it is revoked.') expires_at!: Date | null;
}

/** A claimed key. */
export class ClaimedKeyDto extends NewKeyDto {
  @described(TEXT, 'Who requested it.') requested_by!: string;
  @described(TEXT, 'Who approved it.') approved_by!: string;
  @described(WORDS, 'Who claimed it, as `GET /v1/clients/{name}/keys` lists it.') claimed_by!: string[];
}

export class NewSignInDto {
  @described(UUID, 'ID of the key of the person, which has no secret. Revoke it to end the sign-in.')
  id!: string;
  @described(TEXT, 'Name of the client.') client!: string;
  @described(TEXT, 'ID of the person in records.') person!: string;
  @described(TEXT, 'Provider at which the person signs in.') issuer!: string;
  @described(TEXT, '`sub` of the person there.') subject!: string;
  @nullable(INSTANT, 'When it ends. Null: when it is revoked.') expires_at!: Date | null;
}

export class RevokedKeyDto {
  @described(UUID, 'ID of the key.') id!: string;
  @described(INSTANT, 'When the key was revoked.') revoked_at!: Date;
}
