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
  @text('Account at the upstream.') account?: string;
  @words('Scopes of the keys.') scopes?: string[];
  @optional(orNull({ type: 'array', items: TEXT }), 'Allowed operations. Null allows all.')
  operations?: string[] | null;
}

/** Fields of a client, a key, a wallet or the configuration that an act changed or deleted. */
export class ActivityState extends withLimits<ClientState, Partial<LimitsDocument>>(
  ClientState,
  LIMIT_KEYS,
  shownIfChanged,
) {
  @textOrNull('Issuer of accepted access tokens. Null rejects all.') token_issuer?: string | null;
  @textOrNull('Audience of the tokens.') token_audience?: string | null;
  @textOrNull("Address of the issuer's public keys.") token_jwks_uri?: string | null;
  @words('Signature algorithms of the tokens.') token_algorithms?: string[];
  @textOrNull('ID of the app at the issuer.') token_client_id?: string | null;
  @flag('Whether tokens must be bound to a key (DPoP).') token_dpop?: boolean;
  @number('Maximum age of tokens from `iat`, in seconds.') token_max_age?: number;
  @textOrNull('OpenID provider of sign-ins to pages. Null allows none.') page_issuer?: string | null;
  @textOrNull('ID of the client at this provider.') page_client_id?: string | null;
  @text('ID of the register entry.') beneficiary_id?: string;
  @text('List of the register entry.') list?: string;
  @text('Recipient of the register entry, masked.') recipient?: string;
  @optional(
    { type: 'array', items: orNull(TEXT) },
    'Recipients added to `allowed` or removed from `blocked`, masked. Null for erased ones.',
  )
  recipients?: (string | null)[];
  @text('Beginning and end of the key.') hint?: string;
  @text('OpenID provider of the person.') issuer?: string;
  @text('`sub` of the person at this provider.') subject?: string;
  @textOrNull('ID of the owner of the key.') person?: string | null;
  @text('ID of the person that a merge keeps.') kept_person_id?: string;
  @text('Name of this person, as an owner of keys.') kept_person?: string;
  @text('ID of the merged person.') merged_person_id?: string;
  @text('Name of this person, as an owner of keys.') merged_person?: string;
  @text('ID of the end user.') person_id?: string;
  @count('Number of recipients that the key may pay. Null allows any.') recipient_count?: number | null;
  @text('Limit of all payments of the key in US dollars.') max_total_usd?: string;
  @optional(orNull(INSTANT), 'Expiry of the key. Null if it never expires.') expires_at?: string | null;
  @optional(orNull(INSTANT), "Revocation of the key or of the person's credentials.") revoked_at?:
    | string
    | null;
  @text('Operation of the false rejection, or of the forgotten fees.') operation?: string;
  @text('Kind of the contradiction, or of the client or the key.') kind?: string;
  @text('ID of the attributed or contradicted transaction in the book.') transaction_id?: string;
  @text('ID of the payout that a person attributed it to.') payout_id?: string;
  @textOrNull('Status of this transaction.') status?: string | null;
  @textOrNull('Amount of this transaction in US dollars.') listed_usd?: string | null;
  @text('ID of the earlier transaction of the payout.') superseded_transaction_id?: string;
  @text('ID of the earlier payout of the transaction.') superseded_payout_id?: string;
  @textOrNull('Reference of this transaction.') upstream_ref?: string | null;
  @textOrNull('ID of this transaction at the upstream.') upstream_id?: string | null;
  @text('ID of the wallet.') wallet_id?: string;
  @textOrNull('Type of the wallet.') wallet_type?: string | null;
  @text('Balance of the wallet in US dollars.') balance_usd?: string;
  @textOrNull('Balance in US dollars below which the wallet is low.') low_balance_usd?: string | null;
  @count('Seconds until the balance is spent, at the rate of the last day. Null if nothing was spent.')
  runway_seconds?: number | null;
  @text('ID of the change under dual control.') change_id?: string;
  @text('Requester of a claimed key.') requested_by?: string;
  @text('Approver of a claimed key.') approved_by?: string;
  @words('Persons who claimed the key, and may know it.') claimed_by?: string[];
  @text('ID of the stop.') stop_id?: string;
  @text('Scope and reason of the stop.') stops?: string;
  @flag("Whether the stop is lifted without a read of the upstream's list for the recovery gap.")
  unreconciled?: boolean;
  @text('ID of the call whose payouts are settled.') call_id?: string;
  @text('Outcome of these payouts.') outcome?: string;
  @words('IDs of these payouts. Absent for all that the outcome applies to.') payouts?: string[];
  @textOrNull('Amount that counts less on caps, or of the payout, in US dollars.') amount_usd?: string | null;
  @words('Learned fees in US dollars by size of payout, such as `20-50: 0.3`.') learned_fees?: string[];
  @text('Name of the new client.') name?: string;
  @words('Acts of one person that need two persons.') acts?: string[];
  @flag('Whether changes need a second person.') dual_control?: boolean;
  @optional({ enum: ['proxy', 'worker'] }, 'Process that started with a changed configuration.')
  process?: string;
  @optional(
    { type: 'object', additionalProperties: orNull(TEXT) },
    'Changed settings by variable. Null if unset. Secrets are the beginning of their SHA-256.',
  )
  configuration?: Record<string, string | null>;
  @text('Kind of the erased contact.') erased?: string;
  @number('Number of erased places.') places?: number;
  @text('Pruned data: `people` or `calls`.') pruned?: string;
  @text('The pruned month.') month?: string;
  @number('Number of pruned calls.') calls?: number;
  @number('Number of kept calls, which have no final outcome.') kept?: number;
}
