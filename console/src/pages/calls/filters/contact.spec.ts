import { asContact } from './contact';

describe('asContact', () => {
  it.each([
    ['+254 (712) 345-678', '+254712345678'],
    ['0712 345 678', '0712345678'],
    [' 254712345678 ', '254712345678'],
    ['712.345.678', '712345678'],
    [' ada@example.com ', 'ada@example.com'],
    ['@ada', '@ada'],
    ['sub-account 1', 'sub-account 1'],
    ['12-34', '12-34'],
  ])('searches for %j as %j', (typed, contact) => expect(asContact(typed)).toBe(contact));
});
