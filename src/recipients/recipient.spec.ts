import { contactOf } from './recipient';

describe('contactOf', () => {
  it.each([
    ['ada@example.com', { kind: 'email', key: 'ada@example.com' }],
    ['  +234 (801) 234-5678 ', { kind: 'phone', key: '+2348012345678' }],
    ['002348012345678', { kind: 'phone', key: '+2348012345678' }],
    ['@ada', { kind: 'handle', key: '@ada' }],
    ['ada', undefined],
    ['08012345678', undefined], // of which country?
    ['', undefined],
  ])('reads %j as %j', (given, contact) => expect(contactOf(given)).toEqual(contact));
});
