import { RecipientKind } from '../../../src/recipients/recipient';

/** Spellings of one recipient, by its canonical key. Null for texts without a recipient. */
export interface SpelledRecipient {
  kind: RecipientKind;
  key: string | null;
  spellings: string[];
}

/** Returns a spelled recipient of a kind. A null key marks texts without a recipient. */
export const spelled =
  (kind: RecipientKind) =>
  (key: string | null, ...spellings: string[]): SpelledRecipient => ({ kind, key, spellings });

const phone = spelled('phone');

/** Returns spellings of an international number with other characters between and around its digits. */
function written(digits: string): string[] {
  const [code, rest] = [digits.slice(0, 3), digits.slice(3)];
  const groups = `${rest.slice(0, 3)} ${rest.slice(3, 6)} ${rest.slice(6)}`;
  return [
    `+${digits}`,
    digits,
    `00${digits}`,
    `+${code} ${groups}`,
    `+${code}-${groups.replaceAll(' ', '-')}`,
    `+${code}.${groups.replaceAll(' ', '.')}`,
    `+(${code}) ${groups}`,
    `+${code}/${groups.replaceAll(' ', '/')}`,
    ` +${digits} `,
    `\u202a+${digits}\u202c`,
    `\u200e+${digits}`,
    `+${code}\u00a0${groups.replaceAll(' ', '\u00a0')}`,
    `+${code}\u2011${groups.replaceAll(' ', '\u2011')}`,
    `+${code}\u2013${rest}`,
    `+${code}\u00ad${rest}`,
    `+${digits}\ufe0f`,
    `+${code}\u200b${rest}`,
    `\ufeff+${digits}`,
    fullWidth(`+${digits}`),
    `+${inScript(digits, 0x0660)}`,
    `+${inScript(digits, 0x06f0)}`,
    `+${inScript(digits, 0x0966)}`,
    `+${code}\u2212${rest}`,
    `+${code}\u00b7${rest}`,
    `+${code}\t${rest}\n`,
  ];
}

export function fullWidth(text: string): string {
  return text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0));
}

export function inScript(digits: string, zero: number): string {
  return digits.replace(/\d/g, (digit) => String.fromCharCode(zero + Number(digit)));
}

/** Spellings of phone numbers. */
export const SPELLED_PHONES: SpelledRecipient[] = [
  phone(
    '+254712345678',
    ...written('254712345678'),
    '+2540712345678',
    '+254 (0) 712 345678',
    '+254-0712-345-678',
  ),
  phone('+2348012345678', ...written('2348012345678'), '+23408012345678', '00234 0801 234 5678'),
  phone('+256772123456', ...written('256772123456'), '+2560772123456'),
  phone('+255712345678', ...written('255712345678'), '+255 0712 345 678'),
  // Benin has ten digits since 30 November 2024.
  phone(
    '+2290197123456',
    '+22997123456',
    '+2290197123456',
    '+229 97 12 34 56',
    '+229 01 97 12 34 56',
    '22997123456',
  ),
  // Numbers of these countries may begin with 0.
  phone('+2250707123456', '+2250707123456', '002250707123456', '+225 07 07 12 34 56'),
  phone('+2250107123456', '+2250107123456'),
  phone('+22507123456', '+22507123456', '+225 07 12 34 56'),
  phone('+242061234567', '+242061234567', '+242 06 123 4567'),
  phone('+24107123456', '+24107123456', '+241 07 12 34 56'),
  phone('+22601234567', '+22601234567', '+226 01 23 45 67'),
  phone('+390612345678', '+390612345678', '+39 06 1234 5678', '0039 06 12345678'),
  phone('+393471234567', '+393471234567', '+39 347 123 4567'),
  phone('+3780549123456', '+3780549123456', '+378 0549 123456'),
  phone('+447400123456', '+447400123456', '+44 (0)7400 123456', '+4407400123456', '0044 7400 123456'),
  phone('+4915112345678', '+4915112345678', '+49 (0) 151 12345678', '+49 0151 12345678'),
  phone('+33612345678', '+33612345678', '+33 (0)6 12 34 56 78', '+330612345678'),
  phone('+27821234567', '+27821234567', '+27 (0)82 123 4567', '+27 082 123 4567'),
  phone('+233241234567', '+233241234567', '+233 024 123 4567', '+233 (0)24 123 4567'),
  phone('+2010123456789', '+2010123456789'),
  phone('+201012345678', '+201012345678', '+2001012345678', '+20 010 1234 5678'),
  phone(
    '+12025550123',
    '+12025550123',
    '+1 (202) 555-0123',
    '+1 1 202 555 0123',
    '+112025550123',
    '001 202 555 0123',
  ),
  phone('+79161234567', '+79161234567', '+789161234567', '+7 8 916 123-45-67', '+7 (916) 123-45-67'),
  phone('+36201234567', '+36201234567', '+36 06 20 123 4567', '+3606201234567'),
  phone('+37061234567', '+37061234567', '+370 8 612 34567', '+370 0 612 34567'),
  phone('+375291234567', '+375291234567', '+375 80 29 123-45-67', '+375 8 29 123 45 67'),
  phone('+99365123456', '+99365123456', '+993 8 65 123456'),
  phone('+525512345678', '+525512345678', '+5215512345678', '+52 01 55 1234 5678', '+52 1 55 1234 5678'),
  phone('+919876543210', '+919876543210', '+91 09876 543210', '+91 98765-43210'),
  phone('+85512345678', '+85512345678', '+855 012 345 678'),
  phone('+24381234567', '+24381234567', '+243081234567'),
  phone('+999123456', '+999123456', '999123456'),
  phone('+870123456789', '+870123456789'),
  phone('+88213123456', '+88213123456'),
  phone('+25471234567', '+25471234567', '+254 71234567'),
  phone('+2547123456789', '+2547123456789', '+2540 7123456789'),
  // National format: the country is unknown.
  phone('tel:712345678', '0712345678', '0712 345 678', '(0712) 345-678', '\u202d0712345678\u202c'),
  phone('tel:15112345678', '015112345678'),
  phone('tel:612345', '00612345'),
  phone(
    null,
    '',
    ' ',
    '+',
    '12345',
    '2547****5678',
    '+2547••••5678',
    '+25471234567x',
    '2.54713E+11',
    'ada',
    '++254712345678',
  ),
  phone(null, '+254712345678+254712345679', '1'.repeat(25), '+254712345678 ext. 5', '\u202a\u202c', '@ada'),
];
