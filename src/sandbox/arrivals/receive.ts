import type { FastifyInstance, FastifyRequest } from 'fastify';
import { authenticate } from '../account/authentication';
import { Struck, magicFault } from '../faults/faults';
import { Account } from '../generated/client';
import { Refusal } from '../http/envelope';
import type { Service } from '../service';

export const PREFIX = '/api/v0.1';

/** A recorded request, before any check. */
export interface Received {
  seq: bigint;
  /** The account of its key. Null if the key is missing or unknown. */
  account: Account | null;
  /** Its fields in the interface's words. Read them with {@link readBody}. */
  body: unknown;
  fault: Struck | undefined;
}

const NOT_JSON = Symbol('not JSON');

/** Records every request of the plugin before anything is done with it. */
export function receiveRequests(api: FastifyInstance, service: Service): void {
  api.decorateRequest('received', undefined);
  takeBodiesAsText(api);
  api.addHook('preValidation', async (request) => {
    request.setDecorator('received', null); // Until it is recorded.
    request.setDecorator('received', await receive(service, request));
  });
  // A request whose body broke off or is too large never got that far.
  api.addHook('onSend', async (request, _reply, payload) => {
    if (receivedOf(request) === undefined)
      request.setDecorator('received', await receive(service, request).catch(() => null));
    return payload;
  });
}

/** Null if it could not be recorded. Undefined before the attempt. */
export function receivedOf(request: FastifyRequest): Received | null | undefined {
  return request.getDecorator<Received | null | undefined>('received');
}

/** Returns the account of a request's key, or throws a {@link Refusal}. */
export function readAccount({ account }: Received): Account {
  if (!account) throw new Refusal('key is not defined. Generate a new one from the developer portal', 401);
  return account;
}

/** Returns the JSON of a request's body, or throws a {@link Refusal}. */
export function readBody({ body }: Received): unknown {
  if (body === NOT_JSON) throw new Refusal('request body is not valid JSON');
  return body;
}

/** Records a request whose path cannot be decoded. The framework answers it without any hook or fault. */
export async function receiveUnreadable(service: Service, request: FastifyRequest): Promise<void> {
  const { arrivals, database } = service;
  if (!request.originalUrl.startsWith(`${PREFIX}/`)) return;
  const account = await authenticate(database, request);
  const named = nameOf(service, request);
  const seq = await arrivals.arrived({ ...named, body: null, accountId: account?.id ?? null, fault: null });
  await arrivals.answered(seq, 400);
}

async function receive(service: Service, request: FastifyRequest): Promise<Received> {
  const { arrivals, behaviour, database, faults, lock, unit } = service;
  const named = nameOf(service, request);
  const text = request.body as string | undefined;
  const body = unit.bodyInside(parse(text));
  return lock.pass(async () => {
    const account = await authenticate(database, request);
    const fault = faults.strike(named.operation) ?? magicFault(body, behaviour.magicMs);
    const noted = {
      ...named,
      body: text ?? null,
      accountId: account?.id ?? null,
      fault: fault?.fault ?? null,
    };
    return { seq: await arrivals.arrived(noted), account, body, fault };
  });
}

/**
 * Names a request by the route that answers it, in any spelling of its address, or by its address if there is
 * no route.
 */
function nameOf({ unit }: Service, request: FastifyRequest): { operation: string; query: string } {
  const [address = '', query = ''] = split(request.originalUrl, '?');
  const path = request.routeOptions.url ?? address;
  const below = path.startsWith(PREFIX) ? path.slice(PREFIX.length) || '/' : path;
  return { operation: `${request.method} ${unit.pathInside(below)}`, query };
}

/** Most of the provider's examples send no JSON Content-Type (docs/reference/upstream.md, "Requests"). */
function takeBodiesAsText(api: FastifyInstance): void {
  api.removeAllContentTypeParsers();
  api.addContentTypeParser('*', { parseAs: 'string' }, (_request, text: string, done) => {
    done(null, text.trim() === '' ? undefined : text);
  });
}

function parse(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return NOT_JSON;
  }
}

/** Splits at the first separator only. */
function split(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
