import { LIMIT_KEYS, LimitsDocument } from '../../access/clients/limits/limits';
import { shownIfChanged, withLimits } from '../../http/validation/rules/limit-properties';
import { BOOLEAN, INSTANT, INTEGER, optional, orNull, TEXT } from '../../platform/schema/fields';

const text = (description: string) => optional(TEXT, description);
const textOrNull = (description: string) => optional(orNull(TEXT), description);
const count = (description: string) => optional(orNull(INTEGER), description);
const number = (description: string) => optional(INTEGER, description);
const flag = (description: string) => optional(BOOLEAN, description);
const words = (description: string) => optional({ type: [String] }, description);

class ClientState {
  @text('Its account at the upstream.') account?: string;
  @text('Kind of the client or the key.') kind?: string;
  @words('Scopes of its keys.') scopes?: string[];
  @optional(orNull({ type: 'array', items: TEXT }), 'Operations that it may use. Null: all.')
  operations?: string[] | null;
}

/**
 * Fields of a client, a key, a wallet or the configuration that an act changed or deleted. Unchanged fields
 * are left out.
 */
export class ActivityState extends withLimits<ClientState, Partial<LimitsDocument>>(
  ClientState,
  LIMIT_KEYS,
  shownIfChanged,
) {
  @textOrNull('Issuer of the access tokens that it takes. Null: it takes none.') token_issuer?: string | null;
  @textOrNull('Audience of its tokens.') token_audience?: string | null;
  @textOrNull('Address of the public keys of the issuer.') token_jwks_uri?: string | null;
  @words('Signature algorithms of its tokens.') token_algorithms?: string[];
  @textOrNull('ID of the app at the issuer.') token_client_id?: string | null;
  @flag('Whether its tokens must be bound to a key (DPoP).') token_dpop?: boolean;
  @number('Seconds from `iat` after which its tokens end.') token_max_age?: number;
  @textOrNull('OpenID provider of sign-ins to its pages. Null: none.') page_issuer?: string | null;
  @textOrNull('ID of the client there.') page_client_id?: string | null;
  @text('ID of the entry.') beneficiary_id?: string;
  @text('Its list.') list?: string;
  @text('Its recipient, masked.') recipient?: string;
  @optional(
    { type: 'array', items: orNull(TEXT) },
    'Added to `allowed`, or removed from `blocked`; masked. Null: erased.',
  )
  recipients?: (string | null)[];
  @text('Beginning and end of the key.') hint?: string;
  @text('Provider at which the person signs in.') issuer?: string;
  @text('`sub` of the person there.') subject?: string;
  @textOrNull('ID of the person who owns the key.') person?: string | null;
  @text('ID of the person who is kept in a merge.') kept_person_id?: string;
  @text('Name of this person, who owns keys.') kept_person?: string;
  @text('ID of the person who is merged.') merged_person_id?: string;
  @text('Name of this person, who owns keys.') merged_person?: string;
  @text('ID of the end user.') person_id?: string;
  @count('Number of recipients that the key may pay. Null: any.') recipient_count?: number | null;
  @text('Limit of all payments of the key in US dollars.') max_total_usd?: string;
  @optional(orNull(INSTANT), 'Expiry of the key. Null: valid until it is revoked.') expires_at?:
    | string
    | null;
  @optional(orNull(INSTANT), 'When the key was revoked, or the credentials of the person.') revoked_at?:
    | string
    | null;
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
  @flag("Whether the stop is lifted although the upstream's list of a lost time was not read.")
  unreconciled?: boolean;
  @text('Name of the client to be created.') name?: string;
  @words('Acts of one person that need two.') acts?: string[];
  @flag('Whether a second person must agree.') dual_control?: boolean;
  @optional({ enum: ['proxy', 'worker'] }, 'What was started with a changed configuration.') process?: string;
  @optional(
    { type: 'object', additionalProperties: orNull(TEXT) },
    'Changed settings by variable. Null: not set. A secret is a part of its SHA-256.',
  )
  configuration?: Record<string, string | null>;
  @text('Kind of the erased contact.') erased?: string;
  @number('Number of erased places.') places?: number;
  @text('What was pruned: `people` or `calls`.') pruned?: string;
  @text('The pruned month.') month?: string;
  @number('Number of pruned calls.') calls?: number;
  @number('Number of calls that stay, because they have no final outcome.') kept?: number;
}
