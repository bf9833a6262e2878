import { isPersonId } from './sign-ins';

describe('isPersonId', () => {
  it.each([
    'user-17',
    'auth0|5f7c8ec7c33c6c004bbafe82',
    'google-oauth2|108234567890123456789',
    'a.b:c=d/e-f_g',
  ])('accepts %s', (id) => expect(isPersonId(id)).toBe(true));

  it.each([
    'ada@example.com',
    '+254712345678',
    '254712345678',
    '22997123456',
    '2290197123456',
    '0712345678',
    '',
    'a b',
  ])('rejects %j, a possible contact', (id) => expect(isPersonId(id)).toBe(false));
});
