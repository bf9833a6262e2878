import { createHash } from 'node:crypto';
import { commitment, hexCommitment, SALT_BYTES } from '../../platform/privacy/commitment';

/** Kinds of names, sorted. */
const CONTACTS = ['email', 'handle', 'phone'] as const;

/** The commitments to the names of a recipient, SHA-256(salt || name) in hex. */
interface CommittedRecipient {
  email_commitment?: string | undefined;
  handle_commitment?: string | undefined;
  phone_commitment?: string | undefined;
  /** Position of its item. */
  position: number;
}

/** The erasable names of an item, stored outside the record. An erased one has commitments instead. */
export interface PersonDocument extends CommittedRecipient {
  email?: string | undefined;
  handle?: string | undefined;
  phone?: string | undefined;
  /** 16 bytes in hex. Undefined if it follows from the salt of the list. */
  salt?: string | undefined;
}

/** The recipients of a call, as their row has them. */
export interface StoredPeople {
  people: PersonDocument[];
  /** The salt that the salts of all recipients follow from, until one of them is erased. */
  peopleSalt: Uint8Array | null;
}

/** Returns the recipients, each with its own salt. An erased one has none. */
export function saltedPeople({ people, peopleSalt }: StoredPeople): PersonDocument[] {
  if (peopleSalt === null) return people;
  const salts = saltsFrom(peopleSalt, people.length);
  return people.map((person, place) => ({ ...person, salt: saltAt(salts, place).toString('hex') }));
}

/** Returns the salts of a list, one after the other: SHAKE256 of its salt. */
function saltsFrom(peopleSalt: Uint8Array, length: number): Buffer {
  return createHash('shake256', { outputLength: SALT_BYTES * Math.max(1, length) })
    .update(peopleSalt)
    .digest();
}

function saltAt(salts: Buffer, place: number): Buffer {
  return salts.subarray(place * SALT_BYTES, (place + 1) * SALT_BYTES);
}

/** Returns the commitments to the recipients, in the order of their row. */
function committedRecipients({ people, peopleSalt }: StoredPeople): CommittedRecipient[] {
  const salts = peopleSalt && saltsFrom(peopleSalt, people.length);
  return people.map((person, place) => {
    const salt = salts ? saltAt(salts, place) : Buffer.from(person.salt ?? '', 'hex');
    const committed = (name: string | undefined) =>
      name === undefined ? undefined : hexCommitment(salt, name);
    return {
      email_commitment: committed(person.email) ?? person.email_commitment,
      handle_commitment: committed(person.handle) ?? person.handle_commitment,
      phone_commitment: committed(person.phone) ?? person.phone_commitment,
      position: person.position,
    };
  });
}

/** Returns the text that `recipients_commitment` commits to: the commitments to each recipient. */
export function recipientsText(stored: StoredPeople): string {
  return JSON.stringify(committedRecipients(stored));
}

/**
 * Returns the salt of `recipients_commitment`: the bytes of the call's ID. The text needs no secret one,
 * because all it has is salted.
 */
export function recipientsSalt(callId: string): Buffer {
  return Buffer.from(callId.replaceAll('-', ''), 'hex');
}

/** Returns the member `recipients_commitment` of a call. Undefined if no item names a recipient. */
export function recipientsCommitment(callId: string, stored: StoredPeople): Buffer | undefined {
  return stored.people.length === 0 ? undefined : commitment(recipientsSalt(callId), recipientsText(stored));
}

/** Whether the names of a recipient were erased. */
export function isErased(person: PersonDocument): boolean {
  return CONTACTS.every((contact) => person[contact] === undefined);
}

/** Returns the names of a recipient, by kind. */
export function namesOf(person: PersonDocument): [contact: (typeof CONTACTS)[number], name: string][] {
  return CONTACTS.flatMap((contact) => {
    const name = person[contact];
    return name === undefined ? [] : [[contact, name] as [typeof contact, string]];
  });
}

/** Erases recipients from the list of a call. Their salts go, and those of the others cannot restore them. */
export function withoutRecipients(stored: StoredPeople, isGone: (position: number) => boolean): StoredPeople {
  const committed = committedRecipients(stored);
  const people = saltedPeople(stored).map((person, place) =>
    isGone(person.position) ? committed[place]! : person,
  );
  return { people, peopleSalt: null };
}
