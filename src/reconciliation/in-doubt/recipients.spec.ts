import { keysOf, maybeSameOne, payeeOf, sameOne } from './recipients';

const NOBODY = { email: null, phone: null, handle: null, receiver: null };

describe('recipients', () => {
  it('are the same in any spelling of their names', () => {
    const keys = keysOf({ email: 'Ada@Example.com', phone: '+254 712-345678', handle: '@Ada', receiver: 'uid' });
    expect(keys).toEqual(['e:ada@example.com', 'p:254712345678', 'h:ada', 'r:uid']);
    expect(sameOne(keys, keysOf({ ...NOBODY, phone: '254712345678' }))).toBe(true);
    expect(sameOne(keys, keysOf({ ...NOBODY, phone: '254712345679' }))).toBe(false);
  });

  it('are not recognised by a name that is masked or shortened', () => {
    expect(keysOf({ ...NOBODY, email: 'a••@example.com', phone: '+254••••5678', handle: '@a***' })).toEqual([]);
  });

  it('are paid by the one name that counts', () => {
    const named = { email: 'ada@example.com', phone: '+254712345678', handle: '@ada', receiver: null };
    expect(payeeOf('email', named)).toEqual(['e:ada@example.com']);
    expect(payeeOf('handle', named)).toEqual(['h:ada']);
    expect(payeeOf('phone', named)).toEqual(['p:254712345678']);
    expect(payeeOf('receiver', { ...NOBODY, email: 'ada@example.com', receiver: 'a••@example.com' })).toEqual([
      'r:ada@example.com',
    ]);
    expect(payeeOf('receiver', NOBODY)).toEqual([]);
    expect(payeeOf(null, named)).toHaveLength(3);
  });

  it.each([
    ['+254712345678', '0712345678', true],
    ['+254712345678', '712345678', true],
    ['+254712345678', '00254712345678', true],
    ['+254712345678', '+234712345678', false],
    ['+254712345678', '345678', false],
  ])('may be the same number: %s and %s: %s', (one, other, expected) => {
    const [some, others] = [one, other].map((phone) => keysOf({ ...NOBODY, phone })) as [string[], string[]];
    expect([maybeSameOne(some, others), maybeSameOne(others, some)]).toEqual([expected, expected]);
  });
});
