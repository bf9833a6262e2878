import { ageOf } from './ageing';

describe('the age of a finding', () => {
  it.each([
    [0, '0_to_1'],
    [1, '0_to_1'],
    [2, '2_to_7'],
    [7, '2_to_7'],
    [8, '8_to_30'],
    [30, '8_to_30'],
    [31, '31_or_more'],
    [4_000, '31_or_more'],
  ])('maps %i days to %s', (days, age) => expect(ageOf(days)).toBe(age));
});
