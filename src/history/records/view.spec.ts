import fc from 'fast-check';
import { runs } from '../../../test/support/examples/runs';
import { maskContacts, maskEmail, maskHandle, maskPhone, maskProse } from '../../platform/privacy/contacts';
import { writtenNumbers } from '../../platform/privacy/recorded';
import { maskBody } from './view';

describe('masking', () => {
  it.each([
    ['ada@example.com', 'a••@example.com'],
    ['ab@example.com', 'a••@example.com'],
    ['a@example.com', '••@example.com'],
  ])('reduces the email %s to %s', (email, masked) => expect(maskEmail(email)).toBe(masked));

  it.each([
    ['+2348012345678', '+234••••5678'],
    ['+12345678901', '+123••••8901'],
    ['+1234567890', '+123••••890'],
    ['+1234567', '+123••••'],
  ])('reduces the phone number %s to %s', (phone, masked) => expect(maskPhone(phone)).toBe(masked));

  it.each([
    ['@AdaLovelace', '@A••'],
    ['@ada', '@a••'],
    ['@ad', '@••'],
    ['@a', '@••'],
  ])('reduces the handle %s to %s', (handle, masked) => expect(maskHandle(handle)).toBe(masked));

  it('hides at least four digits of every phone number that the interface accepts', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\+[1-9]\d{6,14}$/), (phone) => {
        const shown = maskPhone(phone).replace('••••', '').length;
        expect(phone.length - shown).toBeGreaterThanOrEqual(4);
      }),
    );
  });

  it('leaves no whole contact in a text', () => {
    const contact = fc.oneof(
      fc.stringMatching(/^\+[1-9]\d{6,14}$/),
      fc.stringMatching(/^[a-z]{2,10}@[a-z]{2,8}\.example$/),
      fc.stringMatching(/^@[A-Za-z0-9_][A-Za-z0-9_.-]{1,20}$/),
    );
    const around = fc.constantFrom('', ' ', '"', '(', ')', ',', ': ', '<', '>', ';', '\n', '/', '=');
    fc.assert(
      fc.property(around, contact, around, (before, who, after) => {
        expect(maskContacts(`to${before}${before === '' ? ' ' : ''}${who}${after} failed`)).not.toContain(
          who,
        );
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('finds numbers without their + in sentences, and ignores IDs, amounts and dates', () => {
    expect(maskProse('2348012345678 is not valid')).toBe('•••• is not valid');
    expect(maskProse('not valid: 08012345678.')).toBe('not valid: ••••.');
    const harmless =
      'ref 12345678-1234-4234-8234-123456789012 uid_7.5_1700000000000 KES 1942.5126789 on 2026-11-20 code ' +
      '404';
    expect(maskProse(harmless)).toBe(harmless);
  });

  it('takes time in proportion to the length of a text', () => {
    // A pattern with quadratic backtracking would not finish.
    for (const long of [
      'a'.repeat(2_000_000),
      '+1 '.repeat(500_000),
      '.-'.repeat(500_000),
      '1.'.repeat(500_000),
    ]) {
      expect(maskProse(long) === long).toBe(true);
    }
  });

  it('keeps the shape of a body, and the fields that identify no person', () => {
    const body = {
      status: 'success',
      data: [
        {
          chiRef: 'x',
          valueInUSD: '1.5',
          email: 'ada@example.com',
          name: '',
          ok: true,
          none: null,
          phone: 234801,
        },
      ],
    };
    expect(maskBody(body)).toEqual({
      status: 'success',
      data: [
        { chiRef: 'x', valueInUSD: '1.5', email: '••••', name: '', ok: true, none: null, phone: '••••' },
      ],
    });
  });

  it.each([['just text'], [['a', 'b']], [5], [{ deep: { deeper: ['x'] } }]])(
    'shows no text of %j',
    (value) => {
      expect(JSON.stringify(maskBody(value))).not.toMatch(/text|"[abx]"|5/);
    },
  );

  it('masks people under any field name, and free-form fields completely', () => {
    const person = { phone_number: '+254712345678', fullname: 'Ada Lovelace', email: 'ada@example.com' };
    const holder = {
      name: 'Ada Lovelace',
      firstName: 'Ada',
      lastName: 'Lovelace',
      phoneNumber: '+254712345678',
    };
    const shown = {
      amount: 1500.5,
      currency: 'KES',
      country: 'Kenya',
      tx_ref: 'invoice-17',
      chiRef: 'chi-1',
    };
    const meta = { reference: 'Ada Lovelace', amount: 254712345678, 'Ada Lovelace': { id: 'Ada' } };
    const dots = (fields: object) => Object.fromEntries(Object.keys(fields).map((name) => [name, '••••']));
    expect(maskBody({ ...person, ...holder, ...shown, meta })).toEqual({
      ...dots(person),
      ...dots(holder),
      ...shown,
      meta: '••••',
    });
    expect(maskBody({ meta: [meta, 'Ada'], tx_ref: 'for ada@example.com' })).toEqual({
      meta: ['••••', '••••'],
      tx_ref: 'for a••@example.com',
    });
  });

  it("masks the numbers of the body's own people in other fields", () => {
    const numbers = writtenNumbers(['+254712345678']);
    const body = {
      reference: '254712345678',
      data: [{ tx_ref: 'x-0712345678', id: 254712345678, code: '254712345679' }],
    };
    expect(maskBody(body, numbers)).toEqual({
      reference: '254••••5678',
      data: [{ tx_ref: 'x-071••••678', id: '••••', code: '254712345679' }],
    });
  });

  it('masks names of a map that are contacts, and treats __proto__ as a name', () => {
    const masked = maskBody(
      JSON.parse('{"ada@example.com":1,"+2348012345678":{"id":"a"},"__proto__":{"email":"x"}}'),
    );
    expect(JSON.stringify(masked)).toBe(
      '{"a••@example.com":"••••","+234••••5678":{"id":"a"},"__proto__":{"email":"••••"}}',
    );
  });
});
