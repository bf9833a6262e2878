import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import { FastifyRequest } from 'fastify';
import { OperationName } from '../../operations/catalogue/catalogue';
import { FeeRule } from '../../operations/items/fees';
import { clock } from '../../platform/database/clock';
import { newId } from '../../platform/database/ids';
import { REQUEST_TIMEOUT_MS } from '../../platform/database/pools/timeouts';
import { Problem } from '../../platform/errors/problem';
import { rememberTrace } from '../../platform/logging/trace-ids';
import { Caller } from '../callers/caller';
import { ChangeAuthor } from '../clients/changes';
import { CallPerson, isEndUser } from '../people/person';
import { SignIn } from '../sessions/sessions.service';

/** One request on its way through the proxy, from its first byte to its response. */
export interface Call {
  /** UUIDv7. Also the ID of its record. */
  readonly id: string;
  /** The caller's own ID of the request (`X-Request-Id`), or the ID of the call. */
  readonly requestId: string;
  /** W3C trace context, as received. */
  readonly traceparent: string | undefined;
  readonly clientAddress: string;
  /** The proxy's origin in the request, such as `https://payouts.example.com`. */
  readonly ownOrigin: string;
  /** The origin of the calling page, except for the console. The text `null` if the browser hides it. */
  readonly origin: string | undefined;
  /** `Idempotency-Key`, as received. */
  readonly idempotencyKey: string | undefined;
  /** `Allow-Duplicate-Of`, as received: the ID of the call to repeat intentionally. */
  readonly allowDuplicateOf: string | undefined;
  /** `Prefer`, as received. */
  readonly prefer: string | undefined;
  /** `X-Actor`, as received. */
  readonly claimedActor: string | undefined;
  /** The person that the caller acts for. Null if unnamed. Set with the caller. */
  person: CallPerson | null;
  /** Whether the caller requests masked people (`X-People`), whatever its scopes. */
  readonly masked: boolean;
  /** The operation of the interface, or else the route, such as `GET /v1/audit/calls`. */
  readonly operation: string;
  readonly receivedAt: Date;
  /** Start, on the monotonic clock, in ms. */
  readonly startedAt: number;
  /** Deadline for sending, on the same clock. */
  sendBy: number;
  /** Start of reading the body, on the same clock. */
  bodyBeganAt: number;
  /** The caller. Undefined only on public routes. */
  caller: Caller | undefined;
  /** The caller's connection. Undefined for the proxy's own calls. */
  readonly connection: { readonly writable: boolean } | undefined;
  /** Aborted when the connection ends before the answer. Set only for requests that take turns. */
  disconnected?: AbortSignal;
  /** Time rested during its turn, in ms. Set only for requests whose turns are followed by a rest. */
  restedMs?: number;
  /** The error that ended the connection during the request. */
  connectionError?: Problem;
  /** The session secret of the console's cookie. Undefined for other credentials. */
  sessionToken: string | undefined;
  /** The sign-in of the session at the OpenID provider. Undefined for other callers. */
  signIn?: SignIn;
  /** Whether its intent is recorded. Earlier errors are recorded as refusals, later ones as outcomes. */
  opened: boolean;
  /** The recorded outcome, for logs and metrics. */
  outcome: string | undefined;
  /** For `Server-Timing`, in ms. `queue` is the time that an operation has waited for its turns. */
  readonly timings: { queue?: number; journal?: number; upstream?: number };
  /** The fee to reserve with each payout. Null if none is expected. */
  feeRule: FeeRule | null;
  /** For the proxy's own calls: the ID of the call that needs the answer. */
  readonly causedBy?: string;
}

/** A call whose caller is known. Every route has one, except those that `@Allow('everyone')` opens. */
export interface AuthenticatedCall extends Call {
  caller: Caller;
}

function isAuthenticated(call: Call): call is AuthenticatedCall {
  return call.caller !== undefined;
}

/** A call of one of the interface's operations, by a known caller. */
export interface OperationCall extends AuthenticatedCall {
  readonly operation: OperationName;
}

/** Returns the holder of a call's quotas: its end user, or else its key. */
export function holderOf({ caller, person }: Call): string {
  return person && isEndUser(person) ? person.id : (caller?.keyId ?? '');
}

/** Returns the time until a call's deadline for sending, in ms. */
export function remainingMs({ sendBy }: Call): number {
  return Math.max(0, sendBy - performance.now());
}

/** Returns whether the caller may see recipients, or results that depend on them, even if masked. */
export function maySeePeople({ caller }: Call): boolean {
  return caller?.scopes.has('audit:pii') ?? false;
}

/** Returns whether the response may show people of the records unmasked. */
export function mayReveal(call: Call): boolean {
  return !call.masked && maySeePeople(call);
}

/** Returns a call of the proxy itself, whose answer another call needs. */
export function causedBy(cause: AuthenticatedCall, operation: OperationName): OperationCall {
  const id = newId();
  if (cause.traceparent !== undefined) rememberTrace(id, cause.traceparent);
  return {
    ...cause,
    idempotencyKey: undefined,
    allowDuplicateOf: undefined,
    prefer: undefined,
    id,
    operation,
    receivedAt: clock.now(),
    startedAt: performance.now(),
    sendBy: performance.now() + REQUEST_TIMEOUT_MS,
    bodyBeganAt: performance.now(),
    opened: false,
    outcome: undefined,
    timings: {},
    feeRule: null,
    causedBy: cause.id,
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    call: Call;
  }
  interface FastifyContextConfig {
    /** The operation that the route executes or previews. Set by `@Operation`. */
    operation?: OperationName;
    /** Whether the route only previews the operation. Set by `@Operation`. */
    isPreview?: boolean;
    /** Whether the credential is optional. A credential that is sent is checked. */
    needsNoKey?: boolean;
  }
}

/**
 * Injects the call into a handler. Its type is `OperationCall` for operations of the interface, and
 * `AuthenticatedCall` for all other routes.
 */
export const CurrentCall = createParamDecorator(
  (_data: unknown, context: ExecutionContext): AuthenticatedCall => {
    const { call } = context.switchToHttp().getRequest<FastifyRequest>();
    if (!isAuthenticated(call)) throw new Problem('missing_key');
    return call;
  },
);

/** The author of a record: a client, its key, and the owner of the key. */
export interface Author {
  clientId: string;
  keyId: string;
  /** The owner of the key. Null for a shared key. */
  actor: string | null;
}

/**
 * Returns the author of a record. `X-Actor` is unproven, so it never names an author. End users are named by
 * ID, because the record cannot be erased.
 */
export function authorOf({ caller, person }: AuthenticatedCall): Author {
  const { clientId, keyId, identity } = caller;
  const actor = identity && person && isEndUser(person) ? person.id : (identity?.name ?? null);
  return { clientId, keyId, actor };
}

/** Returns the origin of a change: `console` for a request with the console's cookie, else `api`. */
function viaOf({ sessionToken }: Pick<Call, 'sessionToken'>): 'api' | 'console' {
  return sessionToken === undefined ? 'api' : 'console';
}

/** The author of a request without a credential. */
const NO_AUTHOR = { clientId: null, keyId: null, actor: null };

/** Returns the author of a change through the API, for its record. */
export function changeAuthorOf(call: Call, reason: string | undefined): ChangeAuthor {
  return {
    ...(isAuthenticated(call) ? authorOf(call) : NO_AUTHOR),
    via: viaOf(call),
    clientAddress: call.clientAddress,
    requestId: call.requestId,
    callId: call.id,
    reason: reason ?? null,
  };
}
