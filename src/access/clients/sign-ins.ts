import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { looksLikePhone } from '../../platform/privacy/phone-numbers';
import { ClientError } from './client-error';
import { hashOfNothing } from './key';

/** The form of a person's ID. It has no `@` and no `+`, as email addresses and phone numbers have. */
export const PERSON = /^[\w.:=|/-]{1,128}$/;

/**
 * Whether a text may identify the owner of a key or the requester. Records keep it forever and cannot erase it, so it
 * must not be an email address or phone number in any spelling.
 */
export function isPersonId(text: string): boolean {
  return PERSON.test(text) && !looksLikePhone(text);
}

/** A person as the OpenID provider names them. */
export interface SignInIdentity {
  issuer: string;
  /** The claim `sub`. */
  subject: string;
}

/** Who may sign in, and as whom records name them. */
export interface SignInOptions extends SignInIdentity {
  person: string;
  expiresAt?: Date | undefined;
}

/** The form of a subject. It has no `@` and no `+`, as email addresses and phone numbers have. */
export const SUBJECT = /^[\w.:=/|~-]{1,255}$/;

/**
 * Whether a text may be the subject of a sign-in. Records keep it forever and cannot erase it, so it must not be an email
 * address or phone number in any spelling.
 */
export function isSubject(text: string): boolean {
  return SUBJECT.test(text) && !looksLikePhone(text);
}

/** Makes the key of a person who signs in at the provider. It has a hash of no secret. @throws ClientError */
export function makeSignIn({ issuer, subject, person, expiresAt }: SignInOptions) {
  if (!isPersonId(person) || !isSubject(subject)) {
    throw new ClientError(
      'the ID of a person and the subject must be letters, digits, and the characters _ . : = / -. They must not be an email address or phone number, because records keep them',
    );
  }
  return { id: newId(), sha256: hashOfNothing(), hint: '', person, issuer, subject, expiresAt: expiresAt ?? null };
}

/** Returns whether a key is that of a person who signs in. */
export function isSignIn<Key extends object>(key: Key & Partial<SignInIdentity>): key is Key & SignInIdentity {
  return key.subject !== undefined;
}

export function identityOf({ issuer, subject }: SignInIdentity): SignInIdentity {
  return { issuer, subject };
}

/** @throws ClientError if the person can sign in already, because a sign-in leads to one client. */
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
    `this person already signs in to the client ${known.client.name}. To move them, revoke the key ${known.id} first.`,
    'sign_in_exists',
  );
}
