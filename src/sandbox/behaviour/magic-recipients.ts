import { Refusal, TransactionError } from '../http/envelope';

/**
 * Recipients with a fixed result, like the test cards of payment services. README.md lists their operations.
 * A phone number is magic by its last eight digits (of any country), an email by its local part at
 * sandbox.example, and a handle by its name: `+254799990104`, `failed@sandbox.example`, `@sandbox_failed`.
 */
export const MAGIC = {
  reversed: {
    digits: '99990101',
    becomes: ['paid', 'failed'],
    does: 'paid, and reversed seconds later: the money returns',
  },
  late: { digits: '99990102', becomes: ['pending', 'paid'], does: 'pending, paid seconds later' },
  pending: { digits: '99990103', becomes: ['pending'], does: 'pending forever' },
  failed: { digits: '99990104', becomes: ['failed'], does: 'its item fails alone and costs nothing' },
  fraud: { digits: '99990105', becomes: ['fraud'], does: 'held as fraud, and costs nothing' },
  unheardOf: {
    digits: '99990106',
    becomes: ['processing_v2'],
    does: 'paid, under an undocumented status word; a credit under it cannot be redeemed',
  },
  insufficientFunds: {
    digits: '99990107',
    refuses: 'insufficient funds',
    does: 'the whole batch is rejected as if the wallet were empty',
  },
  /** The telco's rejection (docs/reference/upstream.md, "Envelope and errors"). */
  transactionFailed: {
    digits: '99990108',
    refuses: 'TRANSACTION_FAILED',
    does: 'the whole batch is rejected: 400 with `type`, `code` and `message`',
  },
  // The faults of the control interface, under their own names.
  delay: { digits: '99990201', fault: 'delay' },
  noResponse: { digits: '99990202', fault: 'noResponse' },
  resetBeforeProcessing: { digits: '99990203', fault: 'resetBeforeProcessing' },
  resetAfterProcessing: { digits: '99990204', fault: 'resetAfterProcessing' },
  lateProcessing: { digits: '99990205', fault: 'lateProcessing' },
  error500: { digits: '99990206', fault: 'error500' },
  error502Html: { digits: '99990207', fault: 'error502Html' },
  truncatedBody: { digits: '99990208', fault: 'truncatedBody' },
  malformedJson: { digits: '99990209', fault: 'malformedJson' },
  slowBody: { digits: '99990210', fault: 'slowBody' },
  hugeBody: { digits: '99990211', fault: 'hugeBody' },
  redirect: { digits: '99990212', fault: 'redirect' },
  unauthorized: { digits: '99990213', fault: 'unauthorized' },
  forbidden: { digits: '99990214', fault: 'forbidden' },
  tooManyRequests: { digits: '99990215', fault: 'tooManyRequests' },
  duplicateTransaction: { digits: '99990216', fault: 'duplicateTransaction' },
  error500AfterProcessing: { digits: '99990217', fault: 'error500AfterProcessing' },
  error500AfterSome: { digits: '99990218', fault: 'error500AfterSome' },
  errorBesideTransactions: { digits: '99990219', fault: 'errorBesideTransactions' },
  errorNamingTransactions: { digits: '99990220', fault: 'errorNamingTransactions' },
  failsLater: { digits: '99990221', fault: 'failsLater' },
  reversesLater: { digits: '99990222', fault: 'reversesLater' },
  refundsLater: { digits: '99990223', fault: 'refundsLater' },
  successNamingNothing: { digits: '99990224', fault: 'successNamingNothing' },
} as const satisfies Record<string, MagicRow>;

export type MagicName = keyof typeof MAGIC;

interface MagicRow {
  /** Last eight digits of its phone numbers. */
  digits: string;
  /** Statuses of its transaction: the first at once, the others seconds later. */
  becomes?: readonly string[];
  /** Reason for the rejection of the whole batch. */
  refuses?: string;
  /** Result of a payout, for recipients without a fault. */
  does?: string;
  /** Fault that strikes the request. */
  fault?: string;
}

const DIGITS = 8;
const EMAIL_DOMAIN = '@sandbox.example';
const HANDLE_PREFIX = '@sandbox_';

const nameByDigits = new Map<string, MagicName>(
  Object.entries(MAGIC).map(([name, { digits }]) => [digits, name as MagicName]),
);
const nameByWord = new Map<string, MagicName>(
  Object.keys(MAGIC).map((name) => [name.toLowerCase(), name as MagicName]),
);

/** Returns the name of a magic recipient. Undefined for all others. */
export function magicOf({ phoneNumber, email, twitter }: Recipient): MagicName | undefined {
  if (phoneNumber) return nameByDigits.get(phoneNumber.slice(-DIGITS));
  const address = email?.toLowerCase();
  if (address)
    return address.endsWith(EMAIL_DOMAIN)
      ? nameByWord.get(address.slice(0, -EMAIL_DOMAIN.length))
      : undefined;
  const handle = twitter?.toLowerCase();
  return handle?.startsWith(HANDLE_PREFIX) ? nameByWord.get(handle.slice(HANDLE_PREFIX.length)) : undefined;
}

export interface Recipient {
  phoneNumber?: string | null;
  email?: string | null;
  twitter?: string | null;
}

/** An operation's texts for the rejections of magic recipients. */
export interface RefusalTexts {
  insufficientFunds: string;
  transactionFailed: string;
}

/**
 * Returns the statuses of a magic recipient's transaction. Undefined for recipients without any.
 * @throws Refusal if the recipient has the whole operation rejected.
 */
export function magicStatuses(recipient: Recipient, texts: RefusalTexts): readonly string[] | undefined {
  const name = magicOf(recipient);
  if (name === undefined) return undefined;
  const magic = MAGIC[name];
  if ('becomes' in magic) return magic.becomes;
  if (!('refuses' in magic)) return undefined; // A fault: see `magicFault`.
  if (magic.refuses === 'TRANSACTION_FAILED')
    throw new TransactionError(magic.refuses, texts.transactionFailed);
  throw new Refusal(texts.insufficientFunds);
}
