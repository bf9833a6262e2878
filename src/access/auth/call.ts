import { v7 as uuidv7 } from 'uuid';
import { Limits } from '../clients/limits';
import { OperationName } from '../../operations/catalogue';
import { Scope } from '../../operations/scopes';
import { Problem } from '../../platform/errors/problem';

/** The caller of a request: a key of a client. */
export interface Caller {
  clientId: string;
  clientName: string;
  keyId: string;
  /** Whose key it is; null: nobody's in particular. */
  person: string | null;
  scopes: ReadonlySet<Scope>;
  /** Of the interface's operations, those switched on for the client; null: all. */
  operations: ReadonlySet<string> | null;
  limits: Limits;
}

/** One request on its way through the proxy, from its first byte to its response. */
export interface Call {
  /** UUIDv7; the id of its record. */
  readonly id: string;
  /** The caller's own id of the request (`X-Request-Id`), or one we made. */
  readonly requestId: string;
  /** W3C trace context, as received. */
  readonly traceparent: string | undefined;
  readonly clientAddress: string;
  /** `Idempotency-Key`, as received. */
  readonly idempotencyKey: string | undefined;
  /** `Allow-Duplicate-Of`, as received: the call that this one repeats on purpose. */
  readonly allowDuplicateOf: string | undefined;
  /** For whom the caller asks: the person whose key it is, or whom the caller names (`X-Actor`). */
  actor: string | null;
  /** Whether it asks for people to be masked, whatever its key may see (`X-People`). */
  readonly masked: boolean;
  /** The operation's name, its line in the interface document; elsewhere the route: `GET /v1/audit/calls`. */
  readonly operation: string;
  readonly receivedAt: Date;
  /** Monotonic, milliseconds. */
  readonly startedAt: number;
  /** Known from the key; only public routes are reached without one. */
  caller: Caller | undefined;
  /** Why the connection of the request was ended before the request was whole. */
  cutShort?: Problem;
  /** Of whoever is signed in to the console, what its cookie holds; undefined: a key was sent. */
  sessionToken: string | undefined;
  /** Whether its intent is recorded. Until then an error is recorded as a refusal; from then on, only an outcome is. */
  opened: boolean;
  /** What came of it, once that is recorded; for the log and the metrics. */
  outcome: string | undefined;
  /** For `Server-Timing`, milliseconds. */
  readonly timings: { journal?: number; upstream?: number };
  /** The call for whose sake the proxy makes this one by itself. */
  readonly causedBy?: string;
}

/** A call whose caller is known. Every route has one, except those that `@Allow('everyone')` opens. */
export interface AuthenticatedCall extends Call {
  caller: Caller;
}

export function isAuthenticated(call: Call): call is AuthenticatedCall {
  return call.caller !== undefined;
}

/** A call of one of the interface's operations, by a known caller. */
export interface OperationCall extends AuthenticatedCall {
  readonly operation: OperationName;
}

/** Returns whether the response may show people in the records to the caller. */
export function mayReveal({ caller, masked }: Call): boolean {
  return !masked && (caller?.scopes.has('audit:pii') ?? false);
}

/** A call that the proxy makes by itself, because another call needs its answer. */
export function causedBy(cause: AuthenticatedCall, operation: OperationName): OperationCall {
  return {
    ...cause,
    idempotencyKey: undefined,
    allowDuplicateOf: undefined,
    id: uuidv7(),
    operation,
    receivedAt: new Date(),
    startedAt: performance.now(),
    opened: false,
    outcome: undefined,
    timings: {},
    causedBy: cause.id,
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    call: Call;
  }
  interface FastifyContextConfig {
    /** The operation that the route carries out or previews; set by `@Operation`. */
    operation?: OperationName;
    /** Whether the route previews the operation and does not carry it out; set by `@Operation`. */
    isPreview?: boolean;
    /** Set by `@Operation`: the scopes that a key needs, all of them. */
    scopes?: Scope[];
  }
}
