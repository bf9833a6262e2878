/** The kinds of names that recipients have. */
export type RecipientKind = 'email' | 'phone' | 'handle' | 'receiver';

/** Returns the spelling of a recipient's name that is the same however the name is written, with the kind of the name. */
export function recipientSpelling(kind: RecipientKind, name: string): string {
  return SPELLINGS[kind](name);
}

const SPELLINGS: Record<RecipientKind, (name: string) => string> = {
  email: (name) => `e:${name.trim().toLowerCase()}`,
  phone: (name) => `p:${name.replace(/\D/g, '').replace(/^0+/, '')}`,
  handle: (name) => `h:${name.trim().replace(/^@+/, '').toLowerCase()}`,
  receiver: (name) => `r:${name}`,
};
