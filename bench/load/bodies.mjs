/** The requests of the matrix. Each body differs from all others by its first recipient's number, so that none is a duplicate. */

const PLACE = '#########'; // nine digits
const phone = (digits) => `+254${digits}`;

/**
 * Another one of the hundred million that begin with 7 for each serial, for its factor has no divisor in common with 10: like
 * those of apps they go anywhere in an index, not to its end.
 */
function numberOf(serial) {
  return 700_000_000 + ((serial * 61_803_399) % 100_000_000);
}

/** @returns what makes another body of each serial. */
function maker(body) {
  const template = Buffer.from(JSON.stringify(body));
  const place = template.indexOf(PLACE);
  return (serial) => {
    const bytes = Buffer.from(template);
    bytes.write(String(numberOf(serial)), place, 'latin1');
    return bytes;
  };
}

const airtime = (digits) => ({ countryToSend: 'Kenya', phoneNumber: phone(digits), valueInUSD: 0.25 });
const momo = (digits) => ({ ...airtime(digits), reference: `wages-${digits}`, momoCode: 'MPS' });

export const bodies = {
  airtime: {
    path: '/api/v0.1/payouts/airtime',
    items: 2,
    bodyOf: maker({ airtimes: [airtime(PLACE), airtime('700000002')] }),
  },
  momo: {
    path: '/api/v0.1/payouts/mobile-money',
    items: 500,
    bodyOf: maker({
      momos: [momo(PLACE), ...Array.from({ length: 499 }, (_, place) => momo(String(710_000_000 + place)))],
    }),
  },
};
