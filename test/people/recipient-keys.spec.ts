import fc from 'fast-check';
import { Examples, getCountries, getExampleNumber } from 'libphonenumber-js/max';
import {
  kindOfKey,
  readRecipient,
  RECIPIENT_KINDS,
  recipientKey,
  RecipientKind,
} from '../../src/recipients/recipient';
import { createTestDatabase, TestDatabase } from '../support/databases/test-database';
import { first } from '../support/examples/first';
import { runs } from '../support/examples/runs';
import { SPELLED_RECIPIENTS } from '../support/payments/recipient-spellings';

const examples = jest.requireActual<Examples>('libphonenumber-js/mobile/examples');
const CASES = SPELLED_RECIPIENTS.flatMap(({ kind, key, spellings }) =>
  spellings.map((spelling) => ({ kind, spelling, key })),
);

describe('recipient keys', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.close());

  async function keysInSql(names: { kind: RecipientKind; spelling: string }[]): Promise<(string | null)[]> {
    const { found } = first(
      await database.query<{ found: (string | null)[] }>(
        `SELECT array_agg(recipient_key(kind, name) ORDER BY ordinal) AS found
         FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS n(kind, name, ordinal)`,
        [names.map(({ kind }) => kind), names.map(({ spelling }) => spelling)],
      ),
    );
    return found;
  }

  it('are equal for all spellings of a recipient', () => {
    expect(CASES.length).toBeGreaterThanOrEqual(300);
    expect(
      CASES.map(({ kind, spelling }) => ({ kind, spelling, key: recipientKey(kind, spelling) })),
    ).toEqual(CASES);
  });

  it('are the same in SQL', async () => {
    const found = await keysInSql(CASES);
    expect(CASES.map(({ kind, spelling }, index) => ({ kind, spelling, key: found[index] }))).toEqual(CASES);
  });

  it('are the same in SQL for any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(name(), { minLength: 1, maxLength: 50 }), async (names) => {
        expect(await keysInSql(names)).toEqual(
          names.map(({ kind, spelling }) => recipientKey(kind, spelling)),
        );
      }),
      { numRuns: runs(100) },
    );
  });

  it('equal their own key, for the same recipient', () => {
    const keys = SPELLED_RECIPIENTS.flatMap(({ key }) =>
      key === null ? [] : [{ kind: kindOfKey(key), spelling: key }],
    );
    const international = keys.filter(({ spelling }) => !spelling.startsWith('tel:'));
    expect(international.map(({ kind, spelling }) => recipientKey(kind, spelling))).toEqual(
      international.map(({ spelling }) => spelling),
    );
  });

  it('are the international form of a mobile number of each country', () => {
    const numbers = getCountries().flatMap((country) => getExampleNumber(country, examples)?.number ?? []);
    expect(numbers.length).toBeGreaterThan(200);
    expect(numbers.map((number) => recipientKey('phone', number))).toEqual(numbers);
    expect(numbers.filter((number) => !('canonical' in readRecipient('phone', number, 'mobile')))).toEqual(
      [],
    );
  });
});

/**
 * Letters of several scripts, characters of contacts, digits and invisible characters. Unassigned characters
 * differ between versions of Unicode.
 */
function name() {
  const others =
    '\u202a\u200b\ufe0f\u00ad\u0661\u06f7\uff10\uff21\u217f\u2011\u00a0\u0301éÉñÑßøØąĄжЖяЯαΩ例测مث';
  const sign = fc.constantFrom(...`abcXYZ0123456789@@++..--__ ()/*•${others}`);
  const text = fc.array(sign, { maxLength: 24 }).map((signs) => signs.join(''));
  const digits = fc.stringMatching(/^(?:\+|00|0)?\d{6,16}$/);
  const address = fc.tuple(
    text,
    fc.constantFrom('example.com', 'Bücher.example', 'пример.рф', 'xn--bcher-kva.example'),
  );
  return fc.record({
    kind: fc.constantFrom(...RECIPIENT_KINDS),
    spelling: fc.oneof(
      text.filter((spelling) => !/[^\x21-\x7e].*@|@.*[^\x21-\x7e]/.test(spelling)),
      digits,
      address.map(([local, domain]) => `${local}@${domain}`),
    ),
  });
}
