import { phonesMeantBy } from './phone-candidates';

const KENYAN = '+254712345678';

describe('phonesMeantBy', () => {
  it.each([
    ['+254712345678'],
    ['+254 (712) 345-678'],
    ['254712345678'],
    ['00254712345678'],
    ['00 254 712 345 678'],
    ['0712345678'],
    ['0712 345 678'],
    ['712345678'],
  ])('finds the international number behind %s', (text) => expect(phonesMeantBy(text)).toContain(KENYAN));

  it.each([['+254712345678'], ['00254712345678']])('reads %s only as that number', (text) =>
    expect(phonesMeantBy(text)).toEqual([KENYAN]),
  );

  it('keeps the 0 of countries that write it after their calling code', () => {
    expect(phonesMeantBy('06 698 12345')).toContain('+390669812345');
  });

  it.each([
    ['ada@example.com'],
    ['@ada'],
    ['12345'],
    ['0'],
    ['+2547'],
    ['07123x45678'],
    ['sub-1234567'],
    [''],
  ])('returns nothing for %j', (text) => expect(phonesMeantBy(text)).toEqual([]));

  it('returns each candidate once, and few enough for one query of the index', () => {
    for (const text of ['0712345678', '712345678', '254712345678']) {
      const phones = phonesMeantBy(text);
      expect(new Set(phones).size).toBe(phones.length);
      expect(phones.length).toBeLessThan(450);
    }
  });
});
