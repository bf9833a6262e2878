import { CanActivate, ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { FastifyRequest } from 'fastify';
import { Scope } from '../clients/scopes';
import { Problem } from '../errors/problem';
import { Caller } from './call';

export const ALLOW = 'payout-proxy:allow';

/** Says who may call a route: keys with one of these scopes, or `everyone`, key or none. */
export const Allow = (...scopes: (Scope | 'everyone')[]) => SetMetadata(ALLOW, scopes);

/**
 * Refuses whom a route does not name, and operations that are switched off for the client. A route that names nobody is
 * open to nobody.
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
    if (!allowed.some((scope) => scope !== 'everyone' && caller.scopes.has(scope))) {
      throw new Problem('scope_missing', {
        text: `This needs a key with the scope ${allowed.join(' or ')}; yours has ${[...caller.scopes].join(', ')}.`,
      });
    }
    const { operation } = routeOptions.config; // only the interface's routes have one
    if (operation === undefined || isSwitchedOn(caller, operation)) return true;
    throw new Problem('operation_not_allowed', {
      text: `${operation} is switched off for your client; ask the operator to allow it.`,
    });
  }
}

/** Whether a client may use an operation of the interface, where it has the scope for it. */
export function isSwitchedOn({ operations }: Pick<Caller, 'operations'>, operation: string): boolean {
  return operations === null || operations.has(operation);
}
