import { RecipientKind } from '../../../src/recipients/recipient';

/** Spellings of one recipient, by its canonical key. Null for texts without a recipient. */
export interface SpelledRecipient {
  kind: RecipientKind;
  key: string | null;
  spellings: string[];
}

const phone = (key: string | null, ...spellings: string[]): SpelledRecipient => ({
  kind: 'phone',
  key,
  spellings,
});
const email = (key: string | null, ...spellings: string[]): SpelledRecipient => ({
  kind: 'email',
  key,
  spellings,
});
const handle = (key: string | null, ...spellings: string[]): SpelledRecipient => ({
  kind: 'handle',
  key,
  spellings,
});
const receiver = (key: string | null, ...spellings: string[]): SpelledRecipient => ({
  kind: 'receiver',
  key,
  spellings,
});

/**
 * Returns the spellings of an international number that differ only in the characters between and around its
 * digits.
 */
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

function fullWidth(text: string): string {
  return text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0));
}

function inScript(digits: string, zero: number): string {
  return digits.replace(/\d/g, (digit) => String.fromCharCode(zero + Number(digit)));
}

/** At least 300 spellings. TypeScript and SQL must give each the same key. */
export const SPELLED_RECIPIENTS: SpelledRecipient[] = [
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

  email(
    'ada@example.com',
    'ada@example.com',
    'Ada@example.com',
    'ADA@EXAMPLE.COM',
    ' ada@example.com ',
    'ada@example.com.',
  ),
  email(
    'ada@example.com',
    '\u202aada@example.com\u202c',
    'ada\u200b@example.com',
    'ada@exam\u00adple.com',
    'ada@example.com\ufe0f',
  ),
  email(
    'ada@example.com',
    fullWidth('ada@example.com'),
    '\uff21da@example.com',
    'ada@ex\u200dample.com',
    '\ufeffada@example.com',
  ),
  email(
    'ada@example.com',
    'ada@exa\u217fple.com',
    'ada@example.co\u216f',
    'ada@example\uff0ecom',
    'ada@example\u3002com',
    'ada@example\uff61com',
  ),
  email(
    'ada@example.com',
    '\u24d0da@example.com',
    'ada@\u{1d41e}xample.com',
    '\tada@example.com\n',
    '\u00a0ada@example.com',
  ),
  email('ada+1@example.com', 'ada+1@example.com', 'Ada+1@Example.Com'),
  email('a.d.a@gmail.com', 'a.d.a@gmail.com'),
  email(
    'ada@xn--bcher-kva.example',
    'ada@bücher.example',
    'ada@BÜCHER.example',
    'ada@xn--bcher-kva.example',
    'ada@XN--BCHER-KVA.example',
  ),
  email(
    'ada@xn--bcher-kva.example',
    'ada@bu\u0308cher.example',
    'Ada@Bu\u0308cher.Example',
    'ada@bücher.example.',
    'ada@bü\u200bcher.example',
  ),
  email('ada@xn--strae-oqa.example', 'ada@straße.example', 'ada@xn--strae-oqa.example'),
  email('ada@xn--mnchen-3ya.xn--p1ai', 'ada@münchen.рф', 'ada@MÜNCHEN.РФ', 'ada@xn--mnchen-3ya.xn--p1ai'),
  email('ada@xn--fsqu00a.xn--0zwm56d', 'ada@例子.测试', 'ada@xn--fsqu00a.xn--0zwm56d', 'ada@例子\u3002测试'),
  email('ada@xn--mgbh0fb.xn--kgbechtv', 'ada@مثال.إختبار'),
  email('ada@xn--hxajbheg2az3al.xn--jxalpdlp', 'ada@παράδειγμα.δοκιμή', 'ada@ΠΑΡΆΔΕΙΓΜΑ.ΔΟΚΙΜΉ'),
  email('ada@xn--r8jz45g.xn--zckzah', 'ada@例え.テスト'),
  email('ada@xn--9n2bp8q.xn--9t4b11yi5a', 'ada@실례.테스트'),
  email('ada@xn--e1afmkfd.example', 'ada@пример.example', 'ADA@ПРИМЕР.example'),
  // A letter of another script is another domain.
  email('ada@xn--xample-2of.com', 'ada@еxample.com'),
  email(
    'josé@example.com',
    'josé@example.com',
    'JOSÉ@example.com',
    'jose\u0301@example.com',
    'JOSE\u0301@EXAMPLE.COM',
  ),
  email('ольга@example.com', 'ольга@example.com', 'Ольга@example.com', 'ОЛЬГА@EXAMPLE.COM'),
  email('øyvind@example.no', 'øyvind@example.no', 'Øyvind@example.no'),
  email(
    null,
    '',
    'ada',
    'ada@',
    '@example.com',
    'a••@example.com',
    'a**@example.com',
    'ada lovelace@example.com',
    'a@b@example.com',
  ),
  email(null, 'ada@exam ple.com', 'ada@.', '\u200b', 'ada@\u200b'),

  handle(
    '@ada',
    '@ada',
    'ada',
    '@Ada',
    '@ADA',
    ' @ada ',
    '@@ada',
    fullWidth('@ada'),
    '@ada\u200b',
    '\u202a@ada\u202c',
    '@ad\u00ada',
  ),
  handle('@ada_l.1-x', '@ada_l.1-x', 'Ada_L.1-X', '@\u24d0da_l.1-x'),
  handle('@_x', '@_x', '_X'),
  handle('@0', '@0', '0', '@\u0660'),
  handle(
    null,
    '',
    '@',
    '@a••',
    '@ad*',
    '@ad a',
    '@josé',
    '@ada@example.com',
    `@${'a'.repeat(65)}`,
    '@-a',
    '@ада',
  ),

  receiver(
    'user-17',
    'user-17',
    ' user-17 ',
    'user\u200b-17',
    '\u202auser-17\u202c',
    fullWidth('user-17'),
    'user-17\ufeff',
  ),
  receiver('User-17', 'User-17'),
  receiver('0712345678', '0712345678', '\u06600712345678'.slice(0, 1) + '712345678'),
  receiver('12345', '12345', inScript('12345', 0x0660)),
  receiver('café', 'café', 'cafe\u0301'),
  receiver('sub account 1', 'sub account 1', 'sub\u00a0account 1'),
  receiver('ada@example.com', 'ada@example.com', 'Ada@Example.com', 'ada@exa\u217fple.com'),
  receiver('ada@xn--bcher-kva.example', 'ada@bücher.example'),
  receiver(
    '+254712345678',
    '+254712345678',
    '+2540712345678',
    '+254 712 345678',
    '\u202a+254712345678\u202c',
  ),
  receiver('@ada', '@ada', '@ADA', fullWidth('@ada')),
  receiver(null, '', '\u200b', 'us••17', 'us**17', ' ', '@', '+', '@ ada', 'ada@', '+12'),
];
