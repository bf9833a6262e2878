import { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Scope } from '../../operations/catalogue/scopes';
import { Allow, AllowGuard, SecretKeysOnly } from './route-access';

class Routes {
  @Allow('everyone') open(this: void) {}
  @Allow('pay', 'read') forSome(this: void) {}
  @Allow('read', 'admin') forOperators(this: void) {}
  @Allow('pay', 'read') @SecretKeysOnly() forServers(this: void) {}
  forgotten(this: void) {}
}

interface RouteRequest {
  scopes?: Scope[];
  /** Operations enabled for the client. */
  operations?: string[];
  /** The operation of the route. */
  operation?: string;
  credential?: 'key' | 'ephemeral';
  sessionToken?: string;
}

function admits(
  handler: () => void,
  { scopes, operations, operation, credential = 'key', sessionToken }: RouteRequest = {},
): boolean | string {
  const caller = scopes && {
    clientId: '',
    clientName: 'shop',
    keyId: '',
    credential: { kind: credential },
    scopes: new Set(scopes),
    operations: operations ? new Set(operations) : null,
  };
  const context = {
    getHandler: () => handler,
    switchToHttp: () => ({
      getRequest: () => ({ call: { caller, sessionToken }, routeOptions: { config: { operation } } }),
    }),
  } as unknown as ExecutionContext;
  try {
    return new AllowGuard(new Reflector()).canActivate(context);
  } catch (problem) {
    return (problem as { code: string }).code;
  }
}

describe('AllowGuard', () => {
  const { open, forSome, forgotten } = Routes.prototype;

  it('admits requests to a public route, with or without a key', () => {
    expect([admits(open), admits(open, { scopes: ['read'] })]).toEqual([true, true]);
  });

  it('admits only keys with one of the named scopes', () => {
    expect(admits(forSome, { scopes: ['read'] })).toBe(true);
    expect(admits(forSome, { scopes: ['write', 'audit', 'admin'] })).toBe('scope_missing');
    expect(admits(forSome)).toBe('missing_key');
  });

  it('admits an ephemeral key only to routes for apps', () => {
    const request = { scopes: ['read'] as Scope[], credential: 'ephemeral' as const };
    const { forOperators } = Routes.prototype;
    expect([admits(forSome, request), admits(forOperators, request)]).toEqual([true, 'secret_key_required']);
    expect(admits(forOperators, { scopes: ['read'] })).toBe(true);
  });

  it('admits only secret keys to the routes of servers', () => {
    const scopes: Scope[] = ['read'];
    const { forServers } = Routes.prototype;
    expect(admits(forServers, { scopes })).toBe(true);
    expect(admits(forServers, { scopes, credential: 'ephemeral' })).toBe('secret_key_required');
    expect(admits(forServers, { scopes, sessionToken: 'secret' })).toBe('secret_key_required');
  });

  it('rejects every caller of a route without @Allow', () => {
    expect(admits(forgotten, { scopes: ['pay', 'write', 'read', 'audit', 'audit:pii', 'admin'] })).toBe(
      'scope_missing',
    );
    expect(admits(forgotten)).toBe('missing_key');
  });

  it('admits only listed operations', () => {
    const scopes: Scope[] = ['pay'];
    const operation = 'POST /payouts/airtime';
    expect(admits(forSome, { scopes, operation })).toBe(true);
    expect(admits(forSome, { scopes, operation, operations: [operation] })).toBe(true);
    expect(
      admits(forSome, { scopes, operation, operations: ['POST /payouts/airtim', 'post /payouts/airtime'] }),
    ).toBe('operation_not_allowed');
    expect(admits(forSome, { scopes: ['write'], operation, operations: ['x'] })).toBe('scope_missing');
    expect(admits(forSome, { scopes, operations: ['x'] })).toBe(true); // not an operation of the interface
  });

  it('requires every scope of an operation on the whole account', () => {
    const request = { operation: 'GET /wallets/list' };
    expect(admits(forSome, { ...request, scopes: ['read', 'account'] })).toBe(true);
    expect(admits(forSome, { ...request, scopes: ['read'] })).toBe('scope_missing');
    expect(admits(forSome, { ...request, scopes: ['account', 'pay'] })).toBe('scope_missing');
    const listed = { ...request, operations: [request.operation] };
    expect(admits(forSome, { ...listed, scopes: ['read'] })).toBe('scope_missing');
    expect(admits(forSome, { ...listed, scopes: ['read', 'account'] })).toBe(true);
  });
});
