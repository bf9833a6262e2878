import type { FastifyInstance, FastifyRequest } from 'fastify';
import { keyHashOf, Owner } from '../account/authentication';
import { magicFault } from '../faults/faults';
import { Refusal } from '../http/envelope';
import type { Service } from '../service';
import type { ArrivedRequest } from './arrived-request';

export const PREFIX = '/api/v0.1';

const NOT_JSON = Symbol('not JSON');

/** Records every request of the plugin before any effect. */
export function receiveRequests(api: FastifyInstance, service: Service): void {
  api.decorateRequest('received', undefined);
  takeBodiesAsText(api);
  api.addHook('preValidation', async (request) => {
    request.setDecorator('received', null); // Until it is recorded.
    request.setDecorator('received', await receive(service, request));
  });
  // A request with a broken or oversized body never reaches preValidation.
  api.addHook('onSend', async (request, _reply, payload) => {
    if (receivedOf(request) === undefined)
      request.setDecorator('received', await receive(service, request).catch(() => null));
    return payload;
  });
}

/** Returns the recorded request. Null if its recording failed, undefined before it. */
export function receivedOf(request: FastifyRequest): ArrivedRequest | null | undefined {
  return request.getDecorator<ArrivedRequest | null | undefined>('received');
}

/** Returns the owner of the request's key, or throws a {@link Refusal}. */
export function readOwner({ owner }: ArrivedRequest): Owner {
  if (!owner) throw new Refusal('key is not defined. Generate a new one from the developer portal', 401);
  return owner;
}

/** Returns the JSON of the request's body, or throws a {@link Refusal}. */
export function readBody({ body }: ArrivedRequest): unknown {
  if (body === NOT_JSON) throw new Refusal('request body is not valid JSON');
  return body;
}

/** Records a request with an undecodable path. Fastify answers it without any hook or fault. */
export async function receiveUnreadable(service: Service, request: FastifyRequest): Promise<void> {
  const { arrivals } = service;
  if (!request.originalUrl.startsWith(`${PREFIX}/`)) return;
  const named = nameOf(service, request);
  const { seq } = await arrivals.arrived({ ...named, body: null, keyHash: keyHashOf(request), fault: null });
  await arrivals.answered(seq, 400);
}

async function receive(service: Service, request: FastifyRequest): Promise<ArrivedRequest> {
  const { arrivals, behaviour, faults, lock, unit } = service;
  const named = nameOf(service, request);
  const text = request.body as string | undefined;
  const body = unit.bodyInside(parse(text));
  return lock.pass(async () => {
    const fault = faults.strike(named.operation) ?? magicFault(body, behaviour.magicMs);
    const keyHash = keyHashOf(request);
    const recorded = { ...named, body: text ?? null, keyHash, fault: fault?.fault ?? null };
    return { ...(await arrivals.arrived(recorded)), body, fault };
  });
}

/** Names a request by its route, or by its address if it has no route. */
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
