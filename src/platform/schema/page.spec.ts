import fc from 'fast-check';
import { isUuid } from '../database/uuid';
import { fromPageToken, joinPageToken, LONG_PAGE, splitPageToken, toPage, toPageToken } from './page';

describe('page tokens', () => {
  it('name an ID in 22 characters without escapes', () => {
    fc.assert(
      fc.property(fc.uuid(), (id) => {
        const token = toPageToken(id);
        expect(token).toMatch(/^[A-Za-z0-9_-]{22}$/);
        expect(fromPageToken(token)).toBe(id);
      }),
    );
  });

  it('give the database UUIDs only', () => {
    const tokens = fc.oneof(fc.stringMatching(/^[A-Za-z0-9_-]{22}$/), fc.string());
    fc.assert(
      fc.property(tokens, (token) => {
        const id = fromPageToken(token);
        return id === undefined || isUuid(id);
      }),
    );
  });

  it('keep their parts', () => {
    const parts = fc.array(fc.stringMatching(/^\S*$/), { minLength: 1 });
    fc.assert(fc.property(parts, (all) => expect(splitPageToken(joinPageToken(all))).toEqual(all)));
  });
});

describe('a page', () => {
  const rows = [...Array(101).keys()].map((n) => ({
    id: `00000000-0000-0000-0000-${String(n).padStart(12, '0')}`,
  }));

  it('names the next page if more rows were read than it shows', () => {
    expect(toPage(rows.slice(0, 3), { page_size: 2 }).nextPageToken).toBe(toPageToken(rows[1]!.id));
    expect(toPage(rows.slice(0, 2), { page_size: 2 }).nextPageToken).toBeNull();
  });

  it('has the usual number of rows of its list', () => {
    expect(toPage(rows.slice(0, 51), {}).rows).toHaveLength(50);
    expect(toPage(rows, {}, { sizes: LONG_PAGE }).rows).toHaveLength(100);
  });
});
