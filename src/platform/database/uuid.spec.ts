import fc from 'fast-check';
import { v7 } from 'uuid';
import { isUuid, uuidFloor, uuidTime } from './uuid';

/** Up to the end of the 48 bits that a UUIDv7 has for its time. */
const instants = fc.date({
  min: new Date(0),
  max: new Date('9999-12-31T23:59:59.999Z'),
  noInvalidDate: true,
});

describe('ids', () => {
  it('have a lower bound for each instant: later ones are not below it, earlier ones do not reach it', () => {
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

  it('contain the instant of their creation', () => {
    fc.assert(fc.property(instants, (at) => expect(uuidTime(v7({ msecs: at.getTime() }))).toEqual(at)));
  });

  it('begin at zero for an instant before 1970', () => {
    expect(uuidFloor(new Date(-1))).toBe('00000000-0000-0000-0000-000000000000');
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
  ])('are recognized in %j: %s', (text, is) => expect(isUuid(text)).toBe(is));
});
