import { readCreditItems } from './payouts';

const read = (item: object) => readCreditItems({ credits: [{ valueInUSD: 1, ...item }] }, 'credits')[0];

describe('readCreditItems', () => {
  it('prefers the email to the handle', () => {
    expect(read({ email: 'ada@example.org', twitter: '@ada' })).toMatchObject({
      email: 'ada@example.org',
      twitter: null,
    });
    expect(read({ email: 'ada@example.org', twitter: '' })).toMatchObject({
      email: 'ada@example.org',
      twitter: null,
    });
    expect(read({ twitter: '@ada' })).toMatchObject({ email: null, twitter: '@ada' });
  });

  it('rejects an item without a recipient, with an invalid one, or without a value', () => {
    expect(() => read({})).toThrow('credits[0] must have an email or a twitter handle');
    expect(() => read({ email: '', twitter: '' })).toThrow('must have an email');
    expect(() => read({ email: 'ada' })).toThrow('credits[0].email must be an e-mail address');
    expect(() => read({ twitter: 'ada' })).toThrow('credits[0].twitter must start with @');
    expect(() => read({ email: 'ada@example.org', valueInUSD: undefined })).toThrow(
      'credits[0].valueInUSD is required',
    );
  });
});
