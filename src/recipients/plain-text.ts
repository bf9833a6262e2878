/** Characters that take no space: marks of direction, joiners, variation selectors, and fillers. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** The zeros of the scripts that write their own decimal digits. NFKC converts the full-width ones. */
const ZEROS = [
  0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66, 0x0e50, 0x0ed0,
  0x0f20, 0x1040, 0x17e0, 0x1810,
];

const DIGITS = new Map(
  ZEROS.flatMap((zero) => Array.from({ length: 10 }, (_, digit) => [String.fromCharCode(zero + digit), `${digit}`])),
);
const FOREIGN_DIGIT = new RegExp(`[${[...DIGITS.keys()].join('')}]`, 'g');

const PRINTABLE_ASCII = /^[\x21-\x7e]*$/;

/** Returns text without the characters that nobody sees or types. */
function withoutInvisible(text: string): string {
  return text.replace(INVISIBLE, '');
}

/** The reason why text with invisible characters is no canonical name. Empty for other text. */
export function invisibleReason(text: string): { reason?: string } {
  return withoutInvisible(text) === text ? {} : { reason: 'It has an invisible character' };
}

/**
 * Returns the characters that a reader sees in a name, each in one form: NFKC without invisible characters, with the digits 0 to 9,
 * and without spaces around. The SQL function plain_name() returns the same.
 */
export function plainText(name: string): string {
  if (PRINTABLE_ASCII.test(name)) return name; // nearly all names
  return withoutInvisible(name)
    .normalize('NFKC')
    .replace(FOREIGN_DIGIT, (digit) => DIGITS.get(digit) ?? digit)
    .trim();
}

/**
 * Returns text with each capital in lower case. Capitals whose small form has another length stay, so that Postgres can do the same
 * by a table in any locale. The SQL function small_letters() returns the same.
 */
export function smallLetters(text: string): string {
  return text.replace(/\p{Lu}/gu, (capital) => {
    const small = capital.toLowerCase();
    return capital.length === 1 && small.length === 1 ? small : capital;
  });
}
