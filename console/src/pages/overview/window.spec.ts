import { datesOf, listOf, windowOf } from './window';

describe('the window of the overview', () => {
  const dates = datesOf('2026-03-01T23:59:59.999Z', 3);

  it('covers whole days in UTC, including the last one', () => {
    expect(dates).toEqual(['2026-02-27', '2026-02-28', '2026-03-01']);
    expect(windowOf(dates)).toEqual({ from: '2026-02-27T00:00:00.000Z', to: '2026-03-02T00:00:00.000Z' });
    expect(windowOf(['2026-02-28'])).toEqual({
      from: '2026-02-28T00:00:00.000Z',
      to: '2026-03-01T00:00:00.000Z',
    });
  });

  it('turns into the filters of a link to a list', () => {
    const { pathname, searchParams } = new URL(
      listOf('payouts', windowOf(['2026-02-28']), { operation: 'POST /payouts/airtime' }),
      'http://localhost',
    );
    expect(pathname).toBe('/payouts');
    expect(Object.fromEntries(searchParams)).toEqual({
      from: '2026-02-28T00:00:00.000Z',
      to: '2026-03-01T00:00:00.000Z',
      operation: 'POST /payouts/airtime',
    });
  });
});
