import fc from 'fast-check';
import { asRecorded, proseAsRecorded, queryAsRecorded, recordedForms, writtenNumbers } from './recorded';

describe('recording a text', () => {
  it.each([
    ['invoice 17', 'invoice 17'],
    ['', ''],
    ['for ada@example.com', 'for a••@example.com'],
    ['to +234 801 234 5678, please', 'to +234••••5678, please'],
    ['@ada_l', '@a••'],
    ['order 2348012345678', 'order 2348012345678'], // of no person in the call: it may be an order number
  ])('turns %s into %s', (text, recorded) => expect(asRecorded(text)).toBe(recorded));

  it('masks the numbers of its own people without their +, too', () => {
    const phones = writtenNumbers(['+2348012345678']);
    expect(asRecorded('ref-2348012345678', phones)).toBe('ref-234••••5678');
    expect(asRecorded('12348012345678 23480123456789', phones)).toBe('12348012345678 23480123456789');
    expect(asRecorded('08012345678 or 002348012345678', phones)).toBe('080••••5678 or 002••••5678');
    expect(asRecorded(null, phones)).toBeNull();
    const former = writtenNumbers(['+2290112345678']);
    expect(asRecorded('22912345678 or 12345678', former)).toBe('229••••5678 or 123••••8');
  });

  it('masks each number with the length of a phone number in sentences', () => {
    expect(proseAsRecorded('she called from 08012345678 about INC-1234567')).toBe(
      'she called from •••• about INC-1234567',
    );
    expect(proseAsRecorded(null)).toBeNull();
  });

  it('changes nothing the second time', () => {
    // A number may end in the digits that an address begins with.
    for (const text of [
      '+1000000 0a@a.aa',
      '+1000000 5678a@a.aa',
      '+1000000 0@#',
      '+1000000 05@#',
      '+100000 0@#',
    ])
      expect(asRecorded(asRecorded(text))).toBe(asRecorded(text));
    const text = fc.oneof(fc.string(), fc.emailAddress(), fc.stringMatching(/^\+[1-9]\d{6,14}$/));
    fc.assert(
      fc.property(text, text, (a, b) => {
        const once = asRecorded(`${a} ${b}`);
        expect(asRecorded(once)).toBe(once);
      }),
    );
  });

  it('leaves a form that a search for the original finds', () => {
    const phones = writtenNumbers(['+2348012345678']);
    for (const text of [
      'invoice 17',
      'for ada@example.com',
      'x-2348012345678',
      '+2348012345678',
      '1234567 for 08012345678',
    ]) {
      expect(recordedForms(text)).toContain(asRecorded(text, phones));
      expect(recordedForms(text)).toContain(asRecorded(text));
    }
  });

  it('keeps a query without a contact unchanged', () => {
    expect(queryAsRecorded(null)).toBeNull();
    expect(queryAsRecorded('issueID=a%20b&page=2')).toBe('issueID=a%20b&page=2');
    const masked = queryAsRecorded('issueID=ada%40example.com&x=%2B2348012345678');
    expect([...new URLSearchParams(masked ?? '')]).toEqual([
      ['issueID', 'a••@example.com'],
      ['x', '+234••••5678'],
    ]);
  });
});
