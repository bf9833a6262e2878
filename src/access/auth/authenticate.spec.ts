import { Caller } from '../callers/caller';
import { NO_LIMITS } from '../clients/limits/limits';
import { sourceProblem } from './authenticate';

const CALLER: Caller = {
  clientId: 'client',
  clientName: 'shop',
  account: 'main',
  keyId: 'key',
  credential: { kind: 'key' },
  identity: null,
  scopes: new Set(),
  operations: null,
  limits: NO_LIMITS,
  blocksRecipients: false,
  rights: '1',
};
const EPHEMERAL = { kind: 'ephemeral', id: 'ephemeral-key', validUntil: Infinity, recipients: null } as const;
const SHOP = 'https://shop.example';
const OTHER = 'https://other.example';

describe('whereFromProblem', () => {
  it.each([
    ['a server', 'key', undefined, undefined, [], undefined],
    ['a server of a client with origins', 'key', undefined, undefined, [SHOP], undefined],
    ['a page with a secret key', 'key', SHOP, undefined, [], 'key_in_browser'],
    ['a page of an allowed origin with a secret key', 'key', SHOP, undefined, [SHOP], 'key_in_browser'],
    ['a page with a session', 'key', SHOP, 'token', [SHOP], undefined],
    ['a page of another origin with a session', 'key', OTHER, 'token', [SHOP], 'origin_not_allowed'],
    ['a page with an ephemeral key', 'ephemeral', SHOP, undefined, [SHOP], undefined],
    [
      'a page of another origin with an ephemeral key',
      'ephemeral',
      OTHER,
      undefined,
      [SHOP],
      'origin_not_allowed',
    ],
    ['a phone with an ephemeral key', 'ephemeral', undefined, undefined, [SHOP], undefined],
  ] as const)('checks the origin of %s', (_caller, kind, origin, sessionToken, origins, code) => {
    const credential = kind === 'key' ? CALLER.credential : EPHEMERAL;
    const caller = { ...CALLER, credential, limits: { ...NO_LIMITS, origins: [...origins] } };
    expect(sourceProblem({ clientAddress: '127.0.0.1', origin, sessionToken }, caller)?.code).toBe(code);
  });
});
