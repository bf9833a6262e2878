import { recipientKey } from '../../../recipients/recipient';
import { haveKindInCommon, kindsOf, maySharePerson } from './payments';

describe('recipients', () => {
  it('have the kinds of their names', () => {
    const kinds = kindsOf(['+254712345678', 'ada@example.com', '@ada', 'user-1', 'tel:712345678']);
    expect(kinds).toEqual(['email', 'handle', 'phone', 'receiver']);
    expect(haveKindInCommon(kinds, ['phone'])).toBe(true);
    expect(haveKindInCommon(kindsOf(['@ada']), ['phone'])).toBe(false);
  });

  it.each([
    ['+254712345678', '0712345678', true],
    ['+254712345678', '712345678', true],
    ['+254712345678', '00254712345678', true],
    ['+254712345678', '+234712345678', false],
    ['+254712345678', '345678', false],
  ])('compare %s and %s as possibly the same number: %s', (one, other, expected) => {
    const [some, others] = [one, other].map((phone) => [recipientKey('phone', phone) ?? '']) as [
      string[],
      string[],
    ];
    expect([maySharePerson(some, others), maySharePerson(others, some)]).toEqual([expected, expected]);
  });
});
