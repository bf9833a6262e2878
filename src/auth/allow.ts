import { CanActivate, ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { FastifyRequest } from 'fastify';
import { Scope } from '../clients/scopes';
import { Problem } from '../errors/problem';

export const ALLOW = 'payout-proxy:allow';

/** Says who may call a route: keys with one of these scopes, or `everyone`, key or none. */
export const Allow = (...scopes: (Scope | 'everyone')[]) => SetMetadata(ALLOW, scopes);

/** Refuses whom a route does not name; a route that names nobody is open to nobody. */
@Injectable()
export class AllowGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const allowed = this.reflector.get<(Scope | 'everyone')[] | undefined>(ALLOW, context.getHandler()) ?? [];
    if (allowed.includes('everyone')) return true;
    const { caller } = context.switchToHttp().getRequest<FastifyRequest>().call;
    if (!caller) throw new Problem('missing_key');
    if (allowed.some((scope) => scope !== 'everyone' && caller.scopes.has(scope))) return true;
    throw new Problem('scope_missing', {
      text: `This needs a key with the scope ${allowed.join(' or ')}; yours has ${[...caller.scopes].join(', ')}.`,
    });
  }
}
