import {
  applyDecorators,
  CallHandler,
  CanActivate,
  ExecutionContext,
  Injectable,
  NestInterceptor,
  SetMetadata,
  UseInterceptors,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { FastifyRequest } from 'fastify';
import { concatMap, Observable } from 'rxjs';
import { OperationName, scopesOf } from '../../operations/catalogue/catalogue';
import { APP_SCOPES, Scope } from '../../operations/catalogue/scopes';
import { Problem } from '../../platform/errors/problem';
import { Caller } from '../callers/caller';
import { Call } from './call';

export const ALLOW = 'payout-proxy:allow';

/**
 * Declares the callers of a route: keys with one of these scopes, or `everyone`, with or without a key. An
 * operation of the interface requires all of its scopes (`@Operation`).
 */
export const Allow = (...scopes: (Scope | 'everyone')[]) => SetMetadata(ALLOW, scopes);

export const SECRET_KEYS_ONLY = 'payout-proxy:secret-keys-only';

/**
 * Declares a route for the servers of apps. Credentials of end users are rejected whatever their scopes,
 * because they could issue credentials that outlive them.
 */
export const SecretKeysOnly = () => SetMetadata(SECRET_KEYS_ONLY, true);

/**
 * Rejects callers that a route does not allow, and operations that the client may not use. Without a
 * declaration, a route is closed.
 */
@Injectable()
export class AllowGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const allowed = this.reflector.get<(Scope | 'everyone')[] | undefined>(ALLOW, context.getHandler()) ?? [];
    if (allowed.includes('everyone')) return true;
    const { call, routeOptions } = context.switchToHttp().getRequest<FastifyRequest>();
    const { caller } = call;
    if (!caller) throw new Problem('missing_key');
    const isForServers =
      this.reflector.get<true | undefined>(SECRET_KEYS_ONLY, context.getHandler()) ?? false;
    const isAllowed = isForServers
      ? hasSecretKey(call)
      : caller.credential.kind === 'key' || isForApps(allowed);
    if (!isAllowed) throw new Problem('secret_key_required');
    const { operation } = routeOptions.config; // set only for routes of the interface and their previews
    const refusal = operation
      ? operationProblem(caller, operation)
      : missingScope(caller, allowed as Scope[]);
    if (refusal) throw refusal;
    return true;
  }
}

/** The permissions that decide about an operation. */
type Permissions = Pick<Caller, 'credential' | 'scopes' | 'operations'>;

/** Returns the scopes that an operation needs and a caller lacks. */
export function missingScopes({ scopes }: Pick<Caller, 'scopes'>, operation: OperationName): Scope[] {
  return scopesOf(operation).filter((scope) => !scopes.has(scope));
}

/**
 * Decides whether a caller may use an operation of the interface, by its scopes and its list of operations.
 * Also used to decide again, for example when a held call is approved.
 * @returns the error. Undefined if allowed.
 */
export function operationProblem(caller: Permissions, operation: OperationName): Problem | undefined {
  const { credential, scopes, operations } = caller;
  if (missingScopes(caller, operation).length > 0) {
    const needed = scopesOf(operation).join(' and the scope ');
    return new Problem('scope_missing', {
      text: `This operation requires ${withScopes(credential, scopes, needed)}`,
    });
  }
  if (!operations || operations.has(operation)) return undefined;
  return new Problem('operation_not_allowed', {
    text: `Your client may not use ${operation}. Ask the operator to allow it.`,
  });
}

function hasSecretKey({ caller, sessionToken }: Call): boolean {
  return caller?.credential.kind === 'key' && sessionToken === undefined;
}

/**
 * Returns whether a route is for apps: the interface and the resources of their own client. Only these accept
 * the credentials of end users. All others are for operators and auditors.
 */
export function isForApps(allowed: (Scope | 'everyone')[]): boolean {
  return allowed.every((scope) => APP_SCOPES.some((appScope) => appScope === scope));
}

/** Returns the error of a caller with none of a route's scopes. One of them is enough. */
function missingScope({ credential, scopes }: Permissions, allowed: Scope[]): Problem | undefined {
  if (allowed.some((scope) => scopes.has(scope))) return undefined;
  return new Problem('scope_missing', {
    text: `This route requires ${withScopes(credential, scopes, allowed.join(' or '))}`,
  });
}

function withScopes({ kind }: Caller['credential'], held: ReadonlySet<Scope>, needed: string): string {
  const credential = kind === 'token' || kind === 'session' ? kind : 'key';
  const scopes = [...held].join(', ') || 'no scope of this API';
  return `a ${credential} with the scope ${needed}. Your ${credential} has ${scopes}.`;
}

export const SHOWS = 'payout-proxy:shows';

/** The history that a response shows, for the access log. */
export interface ShownHistory {
  /** Null if unknown when the response begins. */
  rows: number | null;
  /** The requested call. */
  callId?: string;
  /** The calls on a page. */
  callIds?: string[];
  /** Other parameters of the URL, such as `{run_id}`. */
  about?: Record<string, string>;
  /** Whether recipients or searched people are shown, masked or not. */
  people: boolean;
  /** Whether the reader compares named people with the recipients, other than by a search. */
  compares?: boolean;
}

/** Returns the calls that a response shows. */
type ShownHistoryOf<Answer = unknown> = (answer: Answer) => ShownHistory;

/** Records the readers of the history. See src/history/access-log/accesses.service.ts. */
export abstract class AccessRecorder {
  /**
   * Resolves once the access is recorded. Nothing may be shown earlier.
   * @throws Problem `database_unavailable` if it cannot be recorded.
   */
  abstract record(request: FastifyRequest, shown: ShownHistory): Promise<void>;
}

/** Records each access before the response is sent. */
@Injectable()
class AccessInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly readings: AccessRecorder,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const shownBy = this.reflector.get<ShownHistoryOf>(SHOWS, context.getHandler());
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    return next.handle().pipe(
      concatMap(async (answer: unknown) => {
        await this.readings.record(request, shownBy(answer));
        return answer;
      }),
    );
  }
}

/**
 * Declares that a route shows the history to readers other than the owner of the calls. The access is
 * recorded before the response is sent. If it cannot be recorded, nothing is shown.
 * @param by `itself` if the handler records the access.
 */
export const Shows = <Answer>(by: ShownHistoryOf<Answer> | 'itself') =>
  applyDecorators(SetMetadata(SHOWS, by), ...(by === 'itself' ? [] : [UseInterceptors(AccessInterceptor)]));

export const showsCall: ShownHistoryOf<{ id: string }> = ({ id }) => ({ rows: 1, callId: id, people: true });

/** @param rows calls or their payouts. Several payouts may belong to one call. */
export function showsCalls(rows: { id: string }[]): ShownHistory {
  return { rows: rows.length, callIds: [...new Set(rows.map(({ id }) => id))], people: rows.length > 0 };
}

/** For lists without people. */
export const showsNoPeople = (rows: unknown[]): ShownHistory => ({ rows: rows.length, people: false });
