import { UPSTREAM_KEY } from '../processes/proxy';

/** A recipient to hide from readers without access to people. */
export const PERSON = { email: 'canary.bird@nest.example', phone: '+2349099887766', handle: '@CanaryBird' };
export const SPELLED = [
  PERSON.email,
  PERSON.phone,
  PERSON.phone.slice(1),
  PERSON.handle,
  '+234 909 988 7766',
];

/** Texts that a malicious or careless upstream may write into any field. */
export const TEXTS = [
  ...SPELLED,
  `paid to ${PERSON.email}`,
  `no ${PERSON.phone.slice(1)} here`,
  `key ${UPSTREAM_KEY}`,
  UPSTREAM_KEY,
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "=cmd|'/C calc'!A0",
  '@SUM(1)',
  '\u001b]0;owned\u0007\u001b[31mred',
  "x\r\n'=1+1",
  '\u202eevil',
  'a\u009b31m',
];

/** Texts of a person who imports a statement without knowing the key. */
export const HANDED_IN = TEXTS.filter((text) => !text.includes(UPSTREAM_KEY));
