import { Contact } from '../../recipients/recipient';
import { searchedIn, namedIn } from './person';

const ADA: Contact = { kind: 'email', key: 'ada+x@example.com' };
const MARY: Contact = { kind: 'email', key: 'mary-ann@no-where.example' };
const PHONE: Contact = { kind: 'phone', key: '+2348012345678' };
const HANDLE: Contact = { kind: 'handle', key: '@ada_l' };

describe('a search for a person', () => {
  it.each([
    [ADA, '{"email":"ada+x@example.com"}'],
    [ADA, '{"email":"ADA+X@Example.COM"}'],
    [ADA, '{"ada+x@example.com":{}}'],
    [ADA, 'mailto:ada+x@example.com.'],
    [ADA, '{"a":"\\nada+x\\u0040example.com"}'],
    [ADA, '{"a":"{\\"email\\":\\"ada+x\\\\u0040example.com\\"}"}'],
    [ADA, 'https://pay.example/?to=ada%2Bx%40example.com&x=1'],
    [ADA, '<a>ada+x&#64;example&#x2e;com</a>'],
    [PHONE, '{"phone":"+2348012345678"}'],
    [PHONE, '{"phone":2348012345678}'],
    [PHONE, '{"phone":"\\u002b234 801-234-5678"}'],
    [PHONE, 'tel:%2B2348012345678'],
    [PHONE, '002348012345678'],
    [PHONE, 'call 0801 234 5678!'],
    [PHONE, 'uid_2348012345678_5'],
    [HANDLE, '{"twitter":"@ada_l"}'],
    [HANDLE, '{"handle":"Ada_L"}'],
    [HANDLE, 'https://x.com/ada_l'],
    [HANDLE, 'thanks @ada_l.'],
    [{ ...ADA, key: 'jos\u00e9@example.com' }, 'Jose\u0301@example.com'],
    [{ ...ADA, key: 'jos\u00e9@example.com' }, '{"email":"JOS\\u00c9@example.com"}'],
    [{ ...ADA, key: 'ada@xn--bcher-kva.example' }, 'to Ada@Bücher.example'],
    [MARY, 'to Mary-Ann@no-where.example'],
    [{ ...HANDLE, key: '@mary-ann' }, 'to @mary-ann'],
    [{ ...ADA, key: "o'/|{}^$.*?#&-@example.com" }, "to o'/|{}^$.*?#&-@example.com"],
  ])('finds %j in %s', (person, text) => expect(namedIn(person)(text)).toBe(true));

  it.each([
    [ADA, 'bada+x@example.com ada@example.com ada+x@example.com.ng ada+x@example.community'],
    [PHONE, '12348012345678 23480123456789 1801234567 2348012345679 {"usd":234.801}'],
    [HANDLE, '@ada_lovelace @ada x@ada_l.com Ada_L is there'],
    [ADA, '%zz \\ \\u00 &#; &#x110000; %ff'],
  ])('ignores other people than %j in %s', (person, text) => expect(namedIn(person)(text)).toBe(false));

  it.each([
    [ADA, { recipient: 'ada+x@example.com' }],
    [ADA, { recipient: 'ADA x@example.com' }],
    [ADA, { from: '2026-11-20T08:00:00Z', recipient_prefix: 'ada x@e' }],
    [PHONE, { recipient: ' 2348012345678' }],
    [PHONE, { recipient_prefix: ' 234801' }],
    [PHONE, { recipient_prefix: '+2348012345' }],
    [PHONE, { recipient: '0801 234 5678' }],
    [PHONE, { recipient: '8012345678' }],
  ])(
    'recognizes that %j was searched for with %j, including a + that arrived as a space',
    (person, filters) => expect(searchedIn(person)(JSON.stringify(filters))).toBe(true),
  );

  it.each([
    [ADA, { recipient: 'ada@example.com' }],
    [ADA, { recipient_prefix: 'ada x' }],
    [PHONE, { recipient_prefix: '+23480' }],
    [PHONE, { recipient_prefix: ' 234802' }],
  ])('recognizes that %j was not searched for with %j', (person, filters) =>
    expect(searchedIn(person)(JSON.stringify(filters))).toBe(false),
  );

  it('takes time in proportion to the length of a text', () => {
    for (const part of ['+234 ', 'ada+x', '@', '\\u0040', '%40', '0 8 0 1 ']) {
      for (const person of [ADA, PHONE, HANDLE]) expect(namedIn(person)(part.repeat(200_000))).toBe(false);
    }
  });
});
