import { withoutInvisible } from './contacts';

/** Country calling codes (ITU-T E.164), without those of networks that belong to no country. */
const CALLING_CODES = [
  1, 7, 20, 27, 30, 31, 32, 33, 34, 36, 39, 40, 41, 43, 44, 45, 46, 47, 48, 49, 51, 52, 53, 54, 55, 56, 57, 58, 60, 61,
  62, 63, 64, 65, 66, 81, 82, 84, 86, 90, 91, 92, 93, 94, 95, 98, 211, 212, 213, 216, 218, 220, 221, 222, 223, 224, 225,
  226, 227, 228, 229, 230, 231, 232, 233, 234, 235, 236, 237, 238, 239, 240, 241, 242, 243, 244, 245, 246, 247, 248,
  249, 250, 251, 252, 253, 254, 255, 256, 257, 258, 260, 261, 262, 263, 264, 265, 266, 267, 268, 269, 290, 291, 297,
  298, 299, 350, 351, 352, 353, 354, 355, 356, 357, 358, 359, 370, 371, 372, 373, 374, 375, 376, 377, 378, 379, 380,
  381, 382, 383, 385, 386, 387, 389, 420, 421, 423, 500, 501, 502, 503, 504, 505, 506, 507, 508, 509, 590, 591, 592,
  593, 594, 595, 596, 597, 598, 599, 670, 672, 673, 674, 675, 676, 677, 678, 679, 680, 681, 682, 683, 685, 686, 687,
  688, 689, 690, 691, 692, 850, 852, 853, 855, 856, 880, 886, 960, 961, 962, 963, 964, 965, 966, 967, 968, 970, 971,
  972, 973, 974, 975, 976, 977, 992, 993, 994, 995, 996, 998,
];

/** The shortest and the longest number of a country, without its calling code. */
const [SHORTEST, LONGEST] = [6, 11];

const isInternational = (digits: string) => digits.length >= 7 && digits.length <= 15;

/**
 * Returns every international number that somebody may mean by a phone number in any spelling. People type numbers as they
 * dial them: `+254 712-345678`, `254712345678`, `00254712345678`, `0712345678`, or `712345678`. A number without a calling
 * code may belong to any country, so the result has one candidate for each. It is empty if the text is not a phone number.
 */
export function phonesMeantBy(text: string): string[] {
  const written = withoutInvisible(text).replace(/[\s().\p{Pd}]/gu, '');
  const [, prefix = '', digits = ''] = /^(\+|00)?(\d+)$/.exec(written) ?? [];
  const asWritten = isInternational(digits) ? [`+${digits}`] : [];
  if (prefix === '+') return asWritten;
  if (prefix === '00') return digits.startsWith('0') ? [] : asWritten;
  const national = digits.replace(/^0/, '');
  if (national.length < SHORTEST || national.length > LONGEST) return digits.startsWith('0') ? [] : asWritten;
  // Most countries drop the 0 after their calling code. Some, such as Italy, keep it.
  const keeping = national === digits ? [] : CALLING_CODES.map((code) => `+${code}${digits}`);
  const abroad = CALLING_CODES.map((code) => `+${code}${national}`);
  return [...(digits.startsWith('0') ? [] : asWritten), ...abroad, ...keeping];
}
