import { looksLikePhone } from '../../platform/privacy/phone-numbers';

/** The form of a person's ID. It has no `@` and no `+`, as email addresses and phone numbers have. */
export const PERSON = /^[\w.:=|/-]{1,128}$/;

/**
 * Whether a text may identify the owner of a key or the requester. Records keep it forever and cannot erase it, so it
 * must not be an email address or phone number in any spelling.
 */
export function isPersonId(text: string): boolean {
  return PERSON.test(text) && !looksLikePhone(text);
}
