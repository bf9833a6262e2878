import { looksLikePhone } from '../../platform/privacy/phone-numbers';

/** How a person is named: no `@` and no `+`, as e-mail addresses and phone numbers have. */
export const PERSON = /^[\w.:=/-]{1,128}$/;

/**
 * Whether text may name the person behind a key or a request. Records keep it for ever, so it must not be an e-mail address or
 * a phone number, in whatever spelling: it could not be erased.
 */
export function isPersonId(text: string): boolean {
  return PERSON.test(text) && !looksLikePhone(text);
}
