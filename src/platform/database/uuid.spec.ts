import fc from 'fast-check';
import { v7 } from 'uuid';
import { fromPageToken, isUuid, toPageToken, uuidFloor, uuidTime } from './uuid';

/** Up to the end of the 48 bits that a UUIDv7 has for its time. */
const instants = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true });

describe('ids', () => {
  it('have a smallest one of each instant: no id of that instant or later is below it, no earlier one reaches it', () => {
    fc.assert(
      fc.property(instants, (at) => {
        const floor = uuidFloor(at);
        expect(isUuid(floor)).toBe(true);
        expect(v7({ msecs: at.getTime() }) >= floor).toBe(true);
        if (at.getTime() > 0) expect(v7({ msecs: at.getTime() - 1 }) < floor).toBe(true);
      }),
    );
  });

  it('keep the order of their instants', () => {
    fc.assert(
      fc.property(instants, instants, (a, b) => {
        expect(uuidFloor(a) < uuidFloor(b)).toBe(a < b);
      }),
    );
  });

  it('tell the instant that they were made at', () => {
    fc.assert(fc.property(instants, (at) => expect(uuidTime(v7({ msecs: at.getTime() }))).toEqual(at)));
  });

  it('of an instant before 1970 begin at zero', () => {
    expect(uuidFloor(new Date(-1))).toBe('00000000-0000-0000-0000-000000000000');
  });

  it('survive being a page token, which is 22 characters that need no escape in an address', () => {
    fc.assert(
      fc.property(fc.uuid(), (id) => {
        const token = toPageToken(id);
        expect(token).toMatch(/^[A-Za-z0-9_-]{22}$/);
        expect(fromPageToken(token)).toBe(id);
      }),
    );
  });

  it('come out of whatever looks like a page token, so that the database is never asked for anything else', () => {
    fc.assert(fc.property(fc.stringMatching(/^[A-Za-z0-9_-]{22}$/), (token) => isUuid(fromPageToken(token))));
  });

  it.each([
    ['', false],
    ['01a1fb98-53b1-7069-a17f-af1e8cacb634', true],
    ['01A1FB98-53B1-7069-A17F-AF1E8CACB634', true],
    ['01a1fb98-53b1-7069-a17f-af1e8cacb634\n', false],
    [' 01a1fb98-53b1-7069-a17f-af1e8cacb634', false],
    ['01a1fb9853b17069a17faf1e8cacb634', false],
    ['{01a1fb98-53b1-7069-a17f-af1e8cacb634}', false],
    ['g1a1fb98-53b1-7069-a17f-af1e8cacb634', false],
  ])('%j is one: %s', (text, is) => expect(isUuid(text)).toBe(is));
});
