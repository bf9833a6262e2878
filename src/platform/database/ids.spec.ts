import fc from 'fast-check';
import { version } from 'uuid';
import { IdSource } from './ids';
import { uuidTime } from './uuid';

describe('the IDs of records', () => {
  const time = { ms: 1_800_000_000_000, nowMs: () => time.ms, isCompared: true };
  const timeOf = (id: string) => uuidTime(id).getTime();
  beforeEach(() => Object.assign(time, { ms: 1_800_000_000_000, isCompared: true }));

  it('are UUIDs of version 7 with the time of the database', () => {
    const id = new IdSource(time).next();
    expect([version(id), timeOf(id)]).toEqual([7, time.ms]);
  });

  it('grow and never repeat, however the clock jumps', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -100_000_000, max: 100_000_000 }), { maxLength: 50 }),
        (jumps) => {
          time.ms = 1_800_000_000_000;
          const source = new IdSource(time);
          const made = jumps.flatMap((byMs) => {
            time.ms += byMs / 3; // the clock has fractions of milliseconds
            return [source.next(), source.next()];
          });
          expect(made).toEqual([...new Set(made)].sort());
        },
      ),
    );
  });

  it('keep the time of the last one while the clock is behind it', () => {
    const source = new IdSource(time);
    const first = source.next();
    time.ms -= 86_400_000;
    expect(timeOf(source.next())).toBe(timeOf(first));
    time.ms += 86_400_001;
    expect(timeOf(source.next())).toBe(timeOf(first) + 1);
  });

  it('do not follow an ID that was made before the first comparison', () => {
    const source = new IdSource(time);
    time.isCompared = false;
    time.ms += 86_400_000;
    source.next();
    Object.assign(time, { ms: time.ms - 86_400_000, isCompared: true });
    expect(timeOf(source.next())).toBe(time.ms);
  });

  it('differ between processes in the same millisecond', () => {
    const made = Array.from({ length: 1_000 }, () => new IdSource(time).next());
    expect(new Set(made).size).toBe(1_000);
  });
});
