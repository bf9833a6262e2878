import { paidName, recipientNames } from './item';

const NOBODY = { recipientField: null, email: null, phone: null, handle: null, receiver: null };
const CONTACTS = { email: 'Ada@Example.com', phone: '+254712345678', handle: '@ada', receiver: null };

describe('the names of a recipient', () => {
  it('have canonical keys, and the one that the upstream pays by counts', () => {
    expect(recipientNames({ recipientField: 'email', ...CONTACTS })).toEqual([
      { kind: 'phone', key: '+254712345678', counts: false },
      { kind: 'email', key: 'ada@example.com', counts: true },
      { kind: 'handle', key: '@ada', counts: false },
    ]);
    expect(paidName({ recipientField: 'handle', ...CONTACTS })?.key).toBe('@ada');
    expect(paidName({ recipientField: null, ...CONTACTS })).toBeUndefined();
  });

  it('are the same for a sub-account in a request and in its record, which masks a contact', () => {
    const requested = { ...NOBODY, recipientField: 'receiver', receiver: 'ada@example.com' } as const;
    const recorded = { ...requested, email: 'ada@example.com', receiver: 'a••@example.com' };
    expect(paidName(requested)?.key).toBe('ada@example.com');
    expect(paidName(recorded)?.key).toBe('ada@example.com');
    expect(paidName({ ...requested, receiver: 'user-1' })?.key).toBe('user-1');
  });

  it('omit masked and shortened names', () => {
    const masked = { email: 'a••@example.com', phone: '+254••••5678', handle: '@a***', receiver: 'u••' };
    expect(recipientNames({ ...NOBODY, ...masked })).toEqual([]);
  });
});
