import { endsBefore, monthOf, partitionOf } from './months';

const NOW = new Date('2026-03-31T12:00:00Z');

describe('endsBefore', () => {
  it.each([
    ['31d', '2026-02-28T12:00:00.000Z'],
    ['400d', '2025-02-24T12:00:00.000Z'],
    ['13mo', '2025-02-28T12:00:00.000Z'], // February has no 31st.
    ['4mo', '2025-11-30T12:00:00.000Z'],
    ['12mo', '2025-03-31T12:00:00.000Z'],
  ])('reads %s as %s', (age, before) => expect(endsBefore(age, NOW)?.toISOString()).toBe(before));

  it.each(['30d', '0d', '0mo', '1mo ', '400', '-400d', '1y', '', '100000d', '1.5mo'])('rejects %j', (age) =>
    expect(endsBefore(age, NOW)).toBeUndefined(),
  );

  it('requires at least 31 days, also for shorter months', () => {
    expect(endsBefore('1mo', NOW)?.toISOString()).toBe('2026-02-28T12:00:00.000Z');
    expect(endsBefore('1mo', new Date('2026-03-30T12:00:00Z'))).toBeUndefined(); // 30 days.
  });
});

describe('a month', () => {
  it('has the IDs from its first to its last millisecond', () => {
    const { from, to } = monthOf('2025-12');
    expect(parseInt(from.slice(0, 13).replace('-', ''), 16)).toBe(Date.UTC(2025, 11, 1));
    expect(parseInt(to.slice(0, 13).replace('-', ''), 16)).toBe(Date.UTC(2026, 0, 1));
    expect(partitionOf('intent', monthOf('2025-12'))).toBe('intent_2025_12');
  });
});
