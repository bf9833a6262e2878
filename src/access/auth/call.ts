import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import { FastifyRequest } from 'fastify';
import { OperationName } from '../../operations/catalogue/catalogue';
import { FeeRate } from '../../operations/items/fees';
import { clock } from '../../platform/database/clock';
import { newId } from '../../platform/database/ids';
import { REQUEST_PATIENCE_MS } from '../../platform/database/pools/patience';
import { Problem } from '../../platform/errors/problem';
import { rememberTrace } from '../../platform/logging/trace-ids';
import { Caller } from '../callers/caller';
import { ChangeAuthor } from '../clients/changes';
import { CallPerson, isEndUser } from '../people/person';
import { SignIn } from '../sessions/sessions.service';

/** One request on its way through the proxy, from its first byte to its response. */
export interface Call {
  /** UUIDv7, which is also the ID of its record. */
  readonly id: string;
  /** The caller's own ID of the request (`X-Request-Id`), or the ID of the call. */
  readonly requestId: string;
  /** W3C trace context, as received. */
  readonly traceparent: string | undefined;
  readonly clientAddress: string;
  /** The origin of the proxy by which the request reached it, such as `https://payouts.example.com`. */
  readonly ownOrigin: string;
  /** The origin of the page that asks, if it is not the proxy's own console. `null` as text if the browser does not tell it. */
  readonly origin: string | undefined;
  /** `Idempotency-Key`, as received. */
  readonly idempotencyKey: string | undefined;
  /** `Allow-Duplicate-Of`, as received: the call that this one repeats intentionally. */
  readonly allowDuplicateOf: string | undefined;
  /** Whom the caller names (`X-Actor`), as received. */
  readonly claimedActor: string | undefined;
  /** The person on whose behalf the caller asks. Null if nobody is named. Known with the caller. */
  person: CallPerson | null;
  /** Whether the caller asks to mask people, whatever its key may see (`X-People`). */
  readonly masked: boolean;
  /** The operation's name in the interface, or the route elsewhere, such as `GET /v1/audit/calls`. */
  readonly operation: string;
  readonly receivedAt: Date;
  /** Monotonic, milliseconds. */
  readonly startedAt: number;
  /** When it is no longer sent, on the same clock: it has waited too long for what comes before. */
  sendBy: number;
  /** When its body began to be read, on the same clock. */
  bodyBeganAt: number;
  /** Known from the key. Only public routes are reached without one. */
  caller: Caller | undefined;
  /** The connection on which the caller waits for the answer. Undefined if nobody waits for it. */
  readonly connection: { readonly writable: boolean } | undefined;
  /** Aborted when the connection ends before the answer. Only requests that take turns have it. */
  gone?: AbortSignal;
  /** How long it has rested during its turn, in milliseconds. Only requests whose turns are followed by a rest have it. */
  restedMs?: number;
  /** Why the connection ended before the request was complete. */
  cutShort?: Problem;
  /** The session secret of the console's cookie. Undefined if the caller sent something else. */
  sessionToken: string | undefined;
  /** How the person of the session signed in. Undefined if the caller has no session of the OpenID provider. */
  signIn?: SignIn;
  /**
   * Whether its intent is recorded. Before that, an error is recorded as a refusal. After that, only an outcome is
   * recorded.
   */
  opened: boolean;
  /** Its outcome, once recorded. Logs and metrics use it. */
  outcome: string | undefined;
  /** For `Server-Timing`, milliseconds. */
  readonly timings: { journal?: number; upstream?: number };
  /** The fee that is reserved with each of its payouts. Null if none is expected. */
  feeRate: FeeRate | null;
  /** The call that this one serves, if the proxy makes it by itself. */
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

/** Returns whose shares a call uses: those of its end user, or of its key. End users do not take each other's. */
export function holderOf({ caller, person }: Call): string {
  return person && isEndUser(person) ? person.id : (caller?.keyId ?? '');
}

/** Returns how long a call can still wait before it is sent, in milliseconds. */
export function leftOf({ sendBy }: Call): number {
  return Math.max(0, sendBy - performance.now());
}

/** Returns whether the caller may learn who was paid. Results that depend on it need this, even if they mask people. */
export function maySeePeople({ caller }: Call): boolean {
  return caller?.scopes.has('audit:pii') ?? false;
}

/** Returns whether the response may show people in the records to the caller. */
export function mayReveal(call: Call): boolean {
  return !call.masked && maySeePeople(call);
}

/** A call that the proxy makes by itself, because another call needs its answer. */
export function causedBy(cause: AuthenticatedCall, operation: OperationName): OperationCall {
  const id = newId();
  if (cause.traceparent !== undefined) rememberTrace(id, cause.traceparent);
  return {
    ...cause,
    idempotencyKey: undefined,
    allowDuplicateOf: undefined,
    id,
    operation,
    receivedAt: clock.now(),
    startedAt: performance.now(),
    sendBy: performance.now() + REQUEST_PATIENCE_MS,
    bodyBeganAt: performance.now(),
    opened: false,
    outcome: undefined,
    timings: {},
    feeRate: null,
    causedBy: cause.id,
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    call: Call;
  }
  interface FastifyContextConfig {
    /** The operation that the route carries out or previews. Set by `@Operation`. */
    operation?: OperationName;
    /** Whether the route only previews the operation. Set by `@Operation`. */
    isPreview?: boolean;
    /** Whether the route is open without a credential. One that is sent is checked all the same. */
    needsNoKey?: boolean;
  }
}

/**
 * Injects the call into a handler. An operation of the interface declares it as an `OperationCall`, because its route
 * names the operation. Every other route declares it as an `AuthenticatedCall`.
 */
export const CurrentCall = createParamDecorator((_data: unknown, context: ExecutionContext): AuthenticatedCall => {
  const { call } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!isAuthenticated(call)) throw new Problem('missing_key');
  return call;
});

/** Who did something: a client, its key, and the owner of the key. */
export interface Author {
  clientId: string;
  keyId: string;
  /** The owner of the key. Null if it belongs to nobody in particular. */
  actor: string | null;
}

/**
 * Returns who did something, for its record. The header `X-Actor` is a claim that anybody can make, so it names neither who
 * decided nor who changed something. End users are named by their IDs, because the record cannot be erased.
 */
export function authorOf({ caller, person }: AuthenticatedCall): Author {
  const { clientId, keyId, identity } = caller;
  const actor = identity && person && isEndUser(person) ? person.id : (identity?.name ?? null);
  return { clientId, keyId, actor };
}

/** Returns whether a request came from the console, which is signed in by a cookie. */
function viaOf({ sessionToken }: Pick<Call, 'sessionToken'>): 'api' | 'console' {
  return sessionToken === undefined ? 'api' : 'console';
}

/** The author of a request without a credential. */
const NOBODY = { clientId: null, keyId: null, actor: null };

/** Returns the author of a change through the API, for its record. */
export function changedBy(call: Call, reason: string | undefined): ChangeAuthor {
  return {
    ...(isAuthenticated(call) ? authorOf(call) : NOBODY),
    via: viaOf(call),
    clientAddress: call.clientAddress,
    requestId: call.requestId,
    callId: call.id,
    reason: reason ?? null,
  };
}
