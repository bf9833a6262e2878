import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { runs } from '../../test/support/examples/runs';
import {
  describedAnew,
  Fields,
  otherPayment,
  respelt,
  RESPELLING_NAMES,
} from '../../test/support/payments/respelt';
import { OPERATION_NAMES, rowOf } from '../operations/catalogue/catalogue';
import { normalForm, paymentsIn } from './normal-form';

const writing = fc
  .constantFrom(...OPERATION_NAMES.filter((name) => rowOf(name).effect !== 'read'))
  .map((name) => ({ name, body: rowOf(name).example as Fields }));

describe('the normal form of a request', () => {
  it('is the same in any spelling', () => {
    const property = fc.property(
      writing,
      fc.shuffledSubarray(RESPELLING_NAMES),
      ({ name, body }, spellings) => {
        const spelt = respelt(name, body, spellings);
        expect(normalForm(name, spelt)).toBe(normalForm(name, body));
        expect(paymentsIn(name, spelt)).toEqual(paymentsIn(name, body));
      },
    );
    fc.assert(property, { numRuns: runs(200) });
  });

  it('differs for other texts, which leave the payments unchanged', () => {
    const property = fc.property(writing, ({ name, body }) => {
      const anew = describedAnew(name, body);
      const isSame = JSON.stringify(anew) === JSON.stringify(body);
      expect(normalForm(name, anew) === normalForm(name, body)).toBe(isSame);
      expect(paymentsIn(name, anew)).toEqual(paymentsIn(name, body));
    });
    fc.assert(property);
  });

  it('differs for another payment, as each of its payments does', () => {
    const property = fc.property(writing, ({ name, body }) => {
      const other = otherPayment(name, body);
      expect(normalForm(name, other)).not.toBe(normalForm(name, body));
      for (const payment of paymentsIn(name, other)) expect(paymentsIn(name, body)).not.toContain(payment);
    });
    fc.assert(property);
  });

  it('is canonical JSON, with any unknown fields', () => {
    const field = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('2', '10', 'é', 'phoneNumber2'));
    const unknown = fc.dictionary(field, fc.jsonValue(), { maxKeys: 3 });
    const property = fc.property(writing, unknown, unknown, ({ name, body }, more, ofItem) => {
      const list = Object.keys(body).find((one) => Array.isArray(body[one]));
      const items = list && (body[list] as Fields[]).map((item) => ({ ...ofItem, ...item }));
      const form = normalForm(name, { ...more, ...body, ...(list && { [list]: items }) });
      expect(canonicalize(JSON.parse(form))).toBe(form);
      const withAll = JSON.stringify(JSON.parse(form));
      for (const value of Object.values(list ? ofItem : more))
        expect(withAll).toContain(JSON.stringify(JSON.parse(canonicalize(value) ?? '')));
    });
    fc.assert(property, { numRuns: runs(200) });
  });

  it('keeps unknown fields', () => {
    const item = { email: 'ada@example.com', valueInUSD: 1 };
    const formOf = (extra: object) => normalForm('POST /send', { credit: [{ ...item, ...extra }] });
    expect(formOf({ note: '' })).not.toBe(formOf({}));
    expect(formOf({ note: 'A' })).not.toBe(formOf({ note: 'a' }));
  });
});
