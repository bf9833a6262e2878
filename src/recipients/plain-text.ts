/** Characters without width: marks of direction, joiners, variation selectors and fillers. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** The zeros of scripts with decimal digits of their own. NFKC converts the full-width ones. */
const ZEROS = [
  0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66, 0x0e50,
  0x0ed0, 0x0f20, 0x1040, 0x17e0, 0x1810,
];

const DIGITS = new Map(
  ZEROS.flatMap((zero) =>
    Array.from({ length: 10 }, (_, digit) => [String.fromCharCode(zero + digit), `${digit}`]),
  ),
);
const FOREIGN_DIGIT = new RegExp(`[${[...DIGITS.keys()].join('')}]`, 'g');

const PRINTABLE_ASCII = /^[\x21-\x7e]*$/;

/** Removes invisible characters. */
function withoutInvisible(text: string): string {
  return text.replace(INVISIBLE, '');
}

/** The reason why text with invisible characters is not a canonical name. Empty for other text. */
export function invisibleReason(text: string): { reason?: string } {
  return withoutInvisible(text) === text ? {} : { reason: 'It has an invisible character' };
}

/**
 * Returns the visible characters of a name in one form: NFKC without invisible characters and surrounding
 * spaces, with the digits 0 to 9. Mirrors the SQL function plain_name().
 */
export function plainText(name: string): string {
  if (PRINTABLE_ASCII.test(name)) return name; // Almost all names.
  return withoutInvisible(name)
    .normalize('NFKC')
    .replace(FOREIGN_DIGIT, (digit) => DIGITS.get(digit) ?? digit)
    .trim();
}

/**
 * Returns text in lower case. Keeps capitals whose small form has another length, so Postgres can do the same
 * by a table in any locale. Mirrors the SQL function small_letters().
 */
export function smallLetters(text: string): string {
  return text.replace(/\p{Lu}/gu, (capital) => {
    const small = capital.toLowerCase();
    return capital.length === 1 && small.length === 1 ? small : capital;
  });
}
