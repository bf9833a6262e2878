import fc from 'fast-check';
import { Stop, stopFor } from './stops';

const everything: Stop = { id: '1', clientId: null, operation: null, reason: 'an incident' };
const shop: Stop = { ...everything, id: '2', clientId: 'shop' };
const airtime: Stop = { ...everything, id: '3', operation: 'POST /payouts/airtime' };

const requests = fc.record({
  clientId: fc.constantFrom('shop', 'till'),
  operation: fc.constantFrom('POST /payouts/airtime', 'POST /send'),
});

describe('a stop', () => {
  it('applies to every request if it stops everything', () => {
    fc.assert(fc.property(requests, (request) => stopFor([everything], request) === everything));
  });

  it('applies only to requests of its client', () => {
    fc.assert(
      fc.property(
        requests,
        (request) => (stopFor([shop], request) === shop) === (request.clientId === 'shop'),
      ),
    );
  });

  it('applies only to requests for its operation', () => {
    fc.assert(
      fc.property(
        requests,
        (request) => (stopFor([airtime], request) === airtime) === request.operation.endsWith('airtime'),
      ),
    );
  });

  it('applies among other stops as it does alone, and the first one is returned', () => {
    fc.assert(
      fc.property(fc.subarray([everything, shop, airtime]), requests, (stops, request) => {
        const alone = stops.filter((stop) => stopFor([stop], request));
        expect(stopFor(stops, request)).toBe(alone[0]);
      }),
    );
  });
});
