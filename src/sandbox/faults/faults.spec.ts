import { magicFault } from './faults';

describe('magicFault', () => {
  it('takes `ms` from the setting, for faults with `ms`', () => {
    expect(magicFault({ email: 'delay@sandbox.example' }, 7)?.settings).toEqual({ ms: 7 });
    expect(magicFault({ email: 'lateProcessing@sandbox.example' }, 7)?.settings).toEqual({
      ms: 7,
      status: 503,
    });
    expect(magicFault({ email: 'tooManyRequests@sandbox.example' }, 7)?.settings).toEqual({ retryAfter: 1 });
  });
});
