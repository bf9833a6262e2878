import { anObject, arrayOf, integer, isObject, orNull, Rule, trimmedText } from '../http/rules';

/** The types of transactions. A list may omit a type, or show it late. */
export const LISTED_TYPES = ['airtime', 'momo', 'credit', 'transfer', 'payment'] as const;
export type ListedType = (typeof LISTED_TYPES)[number];

/** The types of a wallet's entries: the first words of their descriptions. */
export const ENTRY_TYPES = [
  'opening',
  'payout',
  'transfer',
  'collection',
  'failure',
  'reversal',
  'refund',
  'expiry',
  'correction',
  'top-up',
  'withdrawal',
  'fee',
] as const;
type EntryType = (typeof ENTRY_TYPES)[number];

/** The lies of a list. Reads by ID have none. */
interface ListLies<Type extends string> {
  /** Caps the list at this many newest entries. Null lists all. */
  newest: number | null;
  /** Freezes the list at this time (ISO 8601). Null means live. */
  frozenAt: string | null;
  /** Types that the list omits. */
  withoutTypes: Type[];
}

export interface Lists {
  transactions: ListLies<ListedType>;
  /** Entries of each wallet. A frozen list freezes the balance too. */
  entries: ListLies<EntryType>;
}

export type StatusWords = Record<string, string>;

/** Replacements of status words, by the true word: `{"paid": "SETTLED_T2"}`. */
export interface ShownWords {
  /** Words in lists and in reads by ID. */
  listed: StatusWords;
  /** Words in the answers of all other operations. */
  answered: StatusWords;
  events: StatusWords;
}

export function noLies(): { words: ShownWords; lists: Lists } {
  return {
    words: { listed: {}, answered: {}, events: {} },
    lists: {
      transactions: { newest: null, frozenAt: null, withoutTypes: [] },
      entries: { newest: null, frozenAt: null, withoutTypes: [] },
    },
  };
}

const NOW = 'now';
const instant: Rule = {
  holds: (value) =>
    value === NOW || (typeof value === 'string' && /^\d{4}-/.test(value) && !isNaN(Date.parse(value))),
  must: `"${NOW}", an ISO 8601 time`,
};
const words: Rule = {
  holds: (value) => isObject(value) && Object.values(value).every((word) => trimmedText.holds(word)),
  must: 'an object of texts without blanks around them',
};
const LONGEST_LIST = 1_000_000;

const listRules = (types: readonly string[]): Record<string, Rule> => ({
  newest: orNull(integer(0, LONGEST_LIST)),
  frozenAt: orNull(instant),
  withoutTypes: arrayOf(types),
});

/** The rules of the settings that are objects, by their paths. */
export const LIE_RULES: Record<string, Record<string, Rule>> = {
  words: { listed: words, answered: words, events: words },
  lists: { transactions: anObject, entries: anObject },
  'lists.transactions': listRules(LISTED_TYPES),
  'lists.entries': listRules(ENTRY_TYPES),
};

/** A change of the lies of lists. */
export type ListPatch = { [List in keyof Lists]?: Partial<Lists[List]> };

/** Applies a change in place. `"now"` freezes a list at this instant, not at its next read. */
export function patchLists(lists: Lists, patch: ListPatch): void {
  for (const name of ['transactions', 'entries'] as const) {
    Object.assign(lists[name], patch[name]);
    const { frozenAt } = lists[name];
    if (frozenAt !== null)
      lists[name].frozenAt = (frozenAt === NOW ? new Date() : new Date(frozenAt)).toISOString();
  }
}
