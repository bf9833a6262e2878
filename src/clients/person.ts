/**
 * Whose key it is, as records name the person for ever: no `@` and no `+`, so that nobody gives an e-mail address or a phone
 * number, which could not be erased.
 */
export const PERSON = /^[\w.:=/-]{1,128}$/;
