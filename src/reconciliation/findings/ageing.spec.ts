import { ageOf } from './ageing';

describe('the age of a finding', () => {
  it.each([
    [0, '0–1'],
    [1, '0–1'],
    [2, '2–7'],
    [7, '2–7'],
    [8, '8–30'],
    [30, '8–30'],
    [31, '31+'],
    [4_000, '31+'],
  ])('of %i days is %s', (days, age) => expect(ageOf(days)).toBe(age));
});
