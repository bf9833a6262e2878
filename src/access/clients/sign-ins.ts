import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { looksLikePhone } from '../../platform/privacy/phone-numbers';
import { ClientError } from './client-error';
import { hashOfNothing } from './key';

/** The form of a person's ID. It has no `@` and no `+`, as email addresses and phone numbers have. */
export const PERSON = /^[\w.:=|/-]{1,128}$/;

/**
 * Returns whether a text may identify the owner of a key or the requester. Records are permanent, so it must
 * not be an email address or phone number in any spelling.
 */
export function isPersonId(text: string): boolean {
  return PERSON.test(text) && !looksLikePhone(text);
}

/** A person by the identity at the OpenID provider. */
export interface SignInIdentity {
  issuer: string;
  /** The claim `sub`. */
  subject: string;
}

/** A new sign-in, with the person's name in records. */
export interface SignInOptions extends SignInIdentity {
  person: string;
  expiresAt?: Date | undefined;
}

/** The form of a subject. It has no `@` and no `+`, as email addresses and phone numbers have. */
export const SUBJECT = /^[\w.:=/|~-]{1,255}$/;

/**
 * Returns whether a text may be the subject of a sign-in. Records are permanent, so it must not be an email
 * address or phone number in any spelling.
 */
export function isSubject(text: string): boolean {
  return SUBJECT.test(text) && !looksLikePhone(text);
}

/** Generates the key of a sign-in at the provider. It has no secret. @throws ClientError */
export function makeSignIn({ issuer, subject, person, expiresAt }: SignInOptions) {
  if (!isPersonId(person) || !isSubject(subject)) {
    throw new ClientError(
      'the ID of a person and the subject must be letters, digits, and the characters _ . : = / -. ' +
        'They must not be an email address or phone number, because records are permanent',
    );
  }
  return {
    id: newId(),
    sha256: hashOfNothing(),
    hint: '',
    person,
    issuer,
    subject,
    expiresAt: expiresAt ?? null,
  };
}

/** Returns whether a key belongs to a sign-in. */
export function isSignIn<Key extends object>(
  key: Key & Partial<SignInIdentity>,
): key is Key & SignInIdentity {
  return key.subject !== undefined;
}

export function identityOf({ issuer, subject }: SignInIdentity): SignInIdentity {
  return { issuer, subject };
}

/** @throws ClientError if the person already signs in to a client. A sign-in leads to one client. */
export async function requireNewSubject(
  tx: Pick<Prisma.TransactionClient, 'apiKey'>,
  { issuer, subject }: SignInIdentity,
): Promise<void> {
  const known = await tx.apiKey.findFirst({
    where: { issuer, subject, kind: 'sign_in', revokedAt: null },
    select: { id: true, client: { select: { name: true } } },
  });
  if (!known) return;
  throw new ClientError(
    `this person already signs in to the client ${known.client.name}. ` +
      `To move them, revoke the key ${known.id} first.`,
    'sign_in_exists',
  );
}
