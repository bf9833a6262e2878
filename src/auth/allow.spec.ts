import { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Scope } from '../clients/scopes';
import { Allow, AllowGuard } from './allow';

class Routes {
  @Allow('everyone') open(this: void) {}
  @Allow('pay', 'read') forSome(this: void) {}
  forgotten(this: void) {}
}

interface Asking {
  scopes?: Scope[];
  /** Those switched on for the client. */
  operations?: string[];
  /** The route's own. */
  operation?: string;
}

function admits(handler: () => void, { scopes, operations, operation }: Asking = {}): boolean | string {
  const caller = scopes && {
    ...{ clientId: '', clientName: 'shop', keyId: '', scopes: new Set(scopes) },
    operations: operations ? new Set(operations) : null,
  };
  const context = {
    getHandler: () => handler,
    switchToHttp: () => ({ getRequest: () => ({ call: { caller }, routeOptions: { config: { operation } } }) }),
  } as unknown as ExecutionContext;
  try {
    return new AllowGuard(new Reflector()).canActivate(context);
  } catch (problem) {
    return (problem as { code: string }).code;
  }
}

describe('AllowGuard', () => {
  const { open, forSome, forgotten } = Routes.prototype;

  it('lets everyone through where everyone may, key or none', () => {
    expect([admits(open), admits(open, { scopes: ['read'] })]).toEqual([true, true]);
  });

  it('lets through a key that has one of the scopes named, and no other', () => {
    expect(admits(forSome, { scopes: ['read'] })).toBe(true);
    expect(admits(forSome, { scopes: ['write', 'audit', 'admin'] })).toBe('scope_missing');
    expect(admits(forSome)).toBe('missing_key');
  });

  it('lets nobody through where a route names nobody', () => {
    expect(admits(forgotten, { scopes: ['pay', 'write', 'read', 'audit', 'audit:pii', 'admin'] })).toBe(
      'scope_missing',
    );
    expect(admits(forgotten)).toBe('missing_key');
  });

  it('lets through an operation that is switched on, and of those with a list no other', () => {
    const scopes: Scope[] = ['pay'];
    const operation = 'POST /send';
    expect(admits(forSome, { scopes, operation })).toBe(true);
    expect(admits(forSome, { scopes, operation, operations: [operation] })).toBe(true);
    expect(admits(forSome, { scopes, operation, operations: ['POST /sen', 'post /send'] })).toBe(
      'operation_not_allowed',
    );
    expect(admits(forSome, { scopes: ['write'], operation, operations: ['x'] })).toBe('scope_missing');
    expect(admits(forSome, { scopes, operations: ['x'] })).toBe(true); // no operation of the interface
  });
});
