import { Owner, recordedOwner } from '../../access/auth/owner';
import { namedIn, NamedId } from '../../gateway/forwarding/ownership/ownership.service';
import { PreparedRequest } from '../../gateway/forwarding/prepared-request';
import { commitmentOf, FullStoredCall } from '../../history/records/rows';
import { accountNamed } from '../../journal/records/accounts';
import {
  INTERFACE_PREFIX,
  methodOf,
  operationNamed,
  pathOf,
  rowOf,
} from '../../operations/catalogue/catalogue';
import { itemsOf } from '../../operations/items/items';
import { Problem } from '../../platform/errors/problem';

/** Record of a held call. */
export type HeldRecord = FullStoredCall;

/**
 * Compares the stored body with the record's commitment, so that the sent body is the reviewed one.
 * @throws Problem `content_lost` for a call restored from a copy, which has no body and no commitment.
 * @throws Problem `content_changed` if the body differs or was erased.
 */
export function requireUnchanged({ intent, body }: HeldRecord): void {
  if (intent.recovered) throw new Problem('content_lost');
  if (body === null || commitmentOf(body) !== intent.body_commitment) throw new Problem('content_changed');
}

/** Returns the recorded bytes as a request. */
export function toPrepared({ intent, body }: HeldRecord): PreparedRequest {
  const name = operationNamed(intent.operation);
  const path = INTERFACE_PREFIX + pathOf(name) + (intent.query === undefined ? '' : `?${intent.query}`);
  return {
    outgoing: {
      account: accountNamed(intent.account),
      operation: name,
      effect: rowOf(name).effect,
      method: methodOf(name),
      path,
      body: bytesOf(body),
    },
    items: itemsOf(name, inputOf(body)),
  };
}

/** Returns the transaction that the request names, if any. */
export function namedTransaction({ intent, body }: HeldRecord): NamedId | undefined {
  return namedIn({ operation: operationNamed(intent.operation) }, inputOf(body));
}

/** Returns the owner of a held call, whose objects it may name. */
export function ownerOfHeld({ intent }: HeldRecord): Owner {
  const { client_id: clientId, person_id: personId = null, actor_source: actorSource = null } = intent;
  return recordedOwner({ clientId, personId, actorSource });
}

/** Returns the person and the ephemeral key with caps on a held call. */
export function payersOf({ intent }: HeldRecord): string[] {
  return [intent.person_id ?? [], intent.ephemeral_key_id ?? []].flat();
}

function inputOf(body: HeldRecord['body']): object | undefined {
  const bytes = bytesOf(body);
  return bytes ? (JSON.parse(bytes.toString('utf8')) as object) : undefined;
}

function bytesOf(body: HeldRecord['body']): Buffer | null {
  return body && Buffer.from(body.body);
}
