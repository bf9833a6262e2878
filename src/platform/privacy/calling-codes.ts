/**
 * The number of digits after each calling code (ITU-T E.164, national numbering plans), as `code:length` or
 * `code:least-most`. For mobile and fixed numbers of people.
 */
const PLAN = `
1:10 7:10 20:8-10 27:9 30:10 31:9 32:8-9 33:9 34:9 36:8-9 39:9-10 40:9 41:9 43:8-12 44:9-10 45:8 46:7-9 47:8
48:9 49:10-11 51:8-9 52:10 53:8 54:10-11 55:10-11 56:9 57:10 58:10 60:8-10 61:9 62:9-12 63:8-10 64:8-10 65:8
66:8-9 81:9-10 82:8-10 84:9-10 86:10-11 90:10 91:10 92:9-10 93:9 94:9 95:8-10 98:10
211:9 212:9 213:8-9 216:8 218:9 220:7 221:9 222:8 223:8 224:9 225:10 226:8 227:8 228:8 229:8-10 230:7-8
231:7-9 232:8 233:9 234:8-10 235:8 236:8 237:9 238:7 239:7 240:9 241:7-8 242:9 243:9 244:9 245:7-9 246:7
248:7 249:9 250:9 251:9 252:7-9 253:8 254:9 255:9 256:9 257:8 258:8-9 260:9 261:9 262:9 263:9 264:8-9
265:7-9 266:8 267:7-8 268:8 269:7 291:7 297:7
350:8 351:9 352:8-9 353:9 354:7 355:8-9 356:8 357:8 358:9-10 359:8-9 370:8 371:8 372:7-8 373:8 374:8 375:9
377:8-9 378:10 380:9 381:8-9 382:8 383:8 385:8-9 386:8 387:8 389:8
420:9 421:9 423:7
501:7 502:8 503:8 504:8 505:8 506:8 507:7-8 509:8 590:9 591:8 592:7 593:8-9 594:9 595:9 596:9 597:7 598:8
599:7-8
670:7-8 673:7 674:7 675:8 676:7 677:7 678:7 679:7 680:7 685:7 686:8 689:8 691:7 692:7
850:10 852:8 853:8 855:8-9 856:8-10 880:10 886:9
960:7 961:7-8 962:9 963:9 964:10 965:8 966:9 967:9 968:8 970:9 971:9 972:9 973:8 974:8 975:8 976:8 977:10
992:9 993:8 994:9 995:9 996:9 998:9`;

const LENGTHS = new Map(
  PLAN.trim()
    .split(/\s+/)
    .map((entry): [string, { least: number; most: number }] => {
      const [code = '', lengths = ''] = entry.split(':');
      const [least = 0, most = least] = lengths.split('-').map(Number);
      return [code, { least, most }];
    }),
);

/** Calling codes with national numbers that may begin with 0, as in the SQL function phone_key(). */
export const WITH_LEADING_ZERO: ReadonlySet<string> = new Set([
  '39',
  '225',
  '226',
  '229',
  '241',
  '242',
  '378',
]);

/** Returns whether digits can be an international number: a calling code with the right number of digits. */
export function isInternational(digits: string): boolean {
  return [1, 2, 3].some((size) => {
    const code = digits.slice(0, size);
    const lengths = LENGTHS.get(code);
    if (!lengths || (digits[size] === '0' && !WITH_LEADING_ZERO.has(code))) return false;
    return digits.length - size >= lengths.least && digits.length - size <= lengths.most;
  });
}
