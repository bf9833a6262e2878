import fc from 'fast-check';
import { readPrefer } from './prefer';

describe('the header Prefer', () => {
  it.each([
    [undefined, false, undefined],
    ['', false, undefined],
    ['wait=10', false, 10],
    ['wait=0', false, 0],
    ['WAIT = 10', false, 10],
    ['respond-async', true, undefined],
    ['Respond-Async', true, undefined],
    ['respond-async=""', true, undefined],
    ['respond-async, wait=10', true, 10],
    ['wait=10,respond-async', true, 10],
    ['return=minimal; foo="some parameter", , wait=5 ;a;b=c', false, 5],
    ['handling=lenient, wait=100, respond-async', true, 100],
    ['wait=3, wait=9', false, 3], // only the first counts
    ['wait=x, wait=9', false, undefined],
    ['"wait=3", wait=9', false, undefined], // not a preference: the header is ignored
    ['x="wait=3, respond-async"', false, undefined],
    ['x="a\\"b, wait=3", wait=4', false, 4],
    ['wait', false, undefined],
    ['wait=', false, undefined],
    ['wait=-1', false, undefined],
    ['wait=1.5', false, undefined],
    ['wait="1"', false, undefined],
    ['wait=1e3', false, undefined],
    ['wait=9999999999', false, undefined],
    ['wait=1 2', false, undefined],
    ['respond-async=false', false, undefined],
    ['respond-async=true', false, undefined],
    ['respond-async wait=1', false, undefined],
    ['respond-async; wait=1', true, undefined], // a parameter of another preference
    ['x="unterminated, respond-async', false, undefined],
  ])('reads %p', (header, respondAsync, waitSeconds) => {
    expect(readPrefer(header)).toEqual({ respondAsync, waitSeconds });
  });

  it('reads any text in linear time', () => {
    for (const part of [';', '; ', ' ', ',', 'a', 'a;', 'a=', 'a="', '"\\', 'wait=1;  ']) {
      const began = process.cpuUsage();
      readPrefer(`a${part.repeat(16_384 / part.length)}\x00`);
      const { user } = process.cpuUsage(began);
      expect(user).toBeLessThan(500_000); // quadratic time takes minutes
    }
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...' ,;="\\awit1-') }), (text) => {
        const { waitSeconds = 0 } = readPrefer(text);
        expect(waitSeconds).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
