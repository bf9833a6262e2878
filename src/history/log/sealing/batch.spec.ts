import fc from 'fast-check';
import { uuidFloor } from '../../../platform/database/uuid';
import { leafRowsOf } from './batch';

const hash = Buffer.alloc(32);
const at = (...times: number[]) => times.map((time) => ({ id: uuidFloor(new Date(time)), hash }));
const timesOf = (times: number[]) => leafRowsOf('stop', at(...times)).map(({ from, to }) => [from, to]);

describe('rows of leaves', () => {
  it('have the records of one second in the order of their IDs', () => {
    expect(timesOf([5_300, 5_000, 5_200])).toEqual([[5_000, 5_300]]);
    const [row] = leafRowsOf('stop', at(5_300, 5_000));
    expect(row?.records.map(({ id }) => id)).toEqual([5_000, 5_300].map((time) => uuidFloor(new Date(time))));
    expect(leafRowsOf('stop', [])).toEqual([]);
  });

  it('keep late records apart', () => {
    expect(timesOf([100_000, 100_500, 7, 50_000])).toEqual([
      [7, 7],
      [50_000, 50_000],
      [100_000, 100_500],
    ]);
  });

  it('are few for records of many days, without losing any', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1e12), { maxLength: 300 }), (times) => {
        const rows = leafRowsOf('stop', at(...times));
        expect(rows.length).toBeLessThanOrEqual(4 + times.length / 64);
        const sorted = at(...times.toSorted((one, other) => one - other));
        expect(rows.flatMap(({ records }) => records)).toEqual(sorted);
      }),
    );
  });
});
