import { Owner, recordedOwner } from '../../access/auth/owner';
import { accountNamed } from '../../journal/records/accounts';
import { IntentDocument } from '../../journal/records/documents';
import { INTERFACE_PREFIX, operationNamed, pathOf } from '../../operations/catalogue/catalogue';
import { itemsOf } from '../../operations/items/items';
import { Problem } from '../../platform/errors/problem';
import { commitment } from '../../platform/privacy/commitment';
import { namedIn, NamedId } from '../forwarding/ownership/ownership.service';
import { PreparedRequest } from '../forwarding/prepared-request';
import { headOf } from '../upstream/transport/outgoing';

/** The record of a call that waits for its approval or its turn, with its stored body. */
export interface WaitingCall {
  intent: IntentDocument;
  /** Null if it was erased, or if a copy did not have it. */
  body: { salt: Uint8Array; body: Uint8Array } | null;
}

/**
 * Compares the stored body with the record's commitment, so that the sent body is the recorded one.
 * @returns `content_lost` for a call restored from a copy, which has no body and no commitment.
 * `content_changed` if the body differs or was erased. Undefined if it is unchanged.
 */
export function changeOf({ intent, body }: WaitingCall): 'content_lost' | 'content_changed' | undefined {
  if (intent.recovered) return 'content_lost';
  if (body === null || commitmentTo(body) !== intent.body_commitment) return 'content_changed';
  return undefined;
}

/** @throws Problem `content_lost` or `content_changed`, see `changeOf`. */
export function requireUnchanged(call: WaitingCall): void {
  const change = changeOf(call);
  if (change) throw new Problem(change);
}

/** Returns the recorded bytes as a request. */
export function toPrepared({ intent, body }: WaitingCall): PreparedRequest {
  const name = operationNamed(intent.operation);
  const path = INTERFACE_PREFIX + pathOf(name) + (intent.query === undefined ? '' : `?${intent.query}`);
  return {
    outgoing: { ...headOf(accountNamed(intent.account), name), path, body: bytesOf(body) },
    items: itemsOf(name, inputOf(body)),
  };
}

/** Returns the transaction that the request names, if any. */
export function namedTransaction({ intent, body }: WaitingCall): NamedId | undefined {
  return namedIn({ operation: operationNamed(intent.operation) }, inputOf(body));
}

/** Returns the owner of a waiting call, whose objects it may name. */
export function ownerOfWaiting({ intent }: WaitingCall): Owner {
  const { client_id: clientId, person_id: personId = null, actor_source: actorSource = null } = intent;
  return recordedOwner({ clientId, personId, actorSource });
}

/** Returns the person and the ephemeral key with caps on a waiting call. */
export function payersOf({ intent }: WaitingCall): string[] {
  return [intent.person_id ?? [], intent.ephemeral_key_id ?? []].flat();
}

function commitmentTo({ salt, body }: NonNullable<WaitingCall['body']>): string | undefined {
  return commitment(Buffer.from(salt), Buffer.from(body))?.toString('hex');
}

function inputOf(body: WaitingCall['body']): object | undefined {
  const bytes = bytesOf(body);
  return bytes ? (JSON.parse(bytes.toString('utf8')) as object) : undefined;
}

function bytesOf(body: WaitingCall['body']): Buffer | null {
  return body && Buffer.from(body.body);
}
