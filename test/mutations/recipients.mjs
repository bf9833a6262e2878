/** Guards against other spellings of a recipient. */
export const RECIPIENTS = [
  {
    name: 'canonical-phones',
    guards: 'a phone number in another spelling, such as one with a trunk zero',
    edits: [
      [
        'src/recipients/recipient.ts',
        'return text === key ? { canonical: key }',
        "return text.startsWith('+') ? { canonical: key }",
      ],
    ],
    noticedBy: 'test/people/recipient-spellings.spec.ts',
    test: 'is refused with the spelling to use',
  },
  {
    name: 'canonical-names',
    guards: 'an address or a sub-account in another spelling, such as one with an invisible character',
    edits: [
      [
        'src/recipients/recipient.ts',
        'if (name === key || small === key)',
        'if (name === key || small !== null)',
      ],
    ],
    noticedBy: 'test/people/recipient-spellings.spec.ts',
    test: 'is refused with the spelling to use',
  },
  {
    name: 'possible-numbers',
    guards: 'a payment to an impossible number',
    edits: [
      [
        'src/recipients/recipient.ts',
        'if (impossible !== undefined) return',
        "if (impossible === '') return",
      ],
    ],
    noticedBy: 'test/people/recipient-spellings.spec.ts',
    test: 'is refused with the spelling to use',
  },
  {
    name: 'trunk-zero',
    guards: 'a separate limit for a number with a trunk zero',
    edits: [['src/recipients/numbering-plan.ts', "?? [/^0+/, '']", '?? AS_DIALED']],
    noticedBy: 'test/people/recipient-keys.spec.ts',
    test: 'are equal for all spellings of a recipient',
  },
  {
    name: 'masked-receivers',
    guards: 'a restored transfer whose receiver is compared by its mask',
    edits: [['src/recipients/recipient.ts', "if (plain === '' || MASKED.test(plain))", "if (plain === '')"]],
    noticedBy: 'test/people/recipient-keys.spec.ts',
    test: 'are equal for all spellings of a recipient',
  },
];
