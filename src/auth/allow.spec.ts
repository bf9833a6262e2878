import { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Scope } from '../clients/scopes';
import { Allow, AllowGuard } from './allow';

class Routes {
  @Allow('everyone') open(this: void) {}
  @Allow('pay', 'read') forSome(this: void) {}
  forgotten(this: void) {}
}

function admits(handler: () => void, scopes?: Scope[]): boolean | string {
  const caller = scopes && { clientId: '', clientName: 'shop', keyId: '', scopes: new Set(scopes) };
  const context = {
    getHandler: () => handler,
    switchToHttp: () => ({ getRequest: () => ({ call: { caller } }) }),
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
    expect([admits(open), admits(open, ['read'])]).toEqual([true, true]);
  });

  it('lets through a key that has one of the scopes named, and no other', () => {
    expect(admits(forSome, ['read'])).toBe(true);
    expect(admits(forSome, ['write', 'audit', 'admin'])).toBe('scope_missing');
    expect(admits(forSome)).toBe('missing_key');
  });

  it('lets nobody through where a route names nobody', () => {
    expect(admits(forgotten, ['pay', 'write', 'read', 'audit', 'audit:pii', 'admin'])).toBe('scope_missing');
    expect(admits(forgotten)).toBe('missing_key');
  });
});
