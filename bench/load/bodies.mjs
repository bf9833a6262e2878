/** The requests of the matrix. Each number gives another first recipient, so there are no duplicates. */

const PLACE = '#########'; // Nine digits.
const phone = (digits) => `+254${digits}`;

/**
 * Returns a different one of the hundred million numbers that begin with 7 for each serial, because its
 * factor shares no divisor with 10. Like those of apps, they are spread over an index.
 */
function numberOf(serial) {
  return 700_000_000 + ((serial * 61_803_399) % 100_000_000);
}

/** @returns a function that makes another body for each serial. */
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
  /** The same amount to the same person each time. Only the references differ. */
  wages: {
    path: '/api/v0.1/payouts/mobile-money',
    items: 1,
    bodyOf: maker({ momos: [{ ...momo('700000003'), reference: `wages-${PLACE}` }] }),
  },
  momo: {
    path: '/api/v0.1/payouts/mobile-money',
    items: 500,
    bodyOf: maker({
      momos: [momo(PLACE), ...Array.from({ length: 499 }, (_, place) => momo(String(710_000_000 + place)))],
    }),
  },
};
