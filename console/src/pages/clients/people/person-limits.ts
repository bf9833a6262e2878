import { LIMIT_TABLE } from '../../../../../src/access/clients/limits/limit-table';
import { OWN_LIMITS as OWN_KEYS, type OwnLimitKey } from '../../../../../src/access/clients/limits/limits';
import type { ChangePersonDto, ClientDto, PersonDto } from '../../../api/generated/schema';
import { editsOf, LABELS, limitInWords } from '../limits/draft';

type Table = typeof LIMIT_TABLE;
export type OwnLimit = Table[OwnLimitKey]['name'];

/** Limits that a person can have, each with the limit of the client that it replaces. */
const REPLACED = new Map(OWN_KEYS.map(([own, key]) => [LIMIT_TABLE[own].name, LIMIT_TABLE[key]]));

export const OWN_LIMITS = [...REPLACED.keys()];

/** Limits of a person in a form. An empty field means the client's limit. */
export type PersonDraft = Record<OwnLimit, string>;

const NO_OWN_LIMITS = Object.fromEntries(OWN_LIMITS.map((name) => [name, ''])) as PersonDraft;

/** @param person undefined for a person who is not known yet. */
export function personDraftOf(person: PersonDto | undefined): PersonDraft {
  if (!person) return NO_OWN_LIMITS;
  return Object.fromEntries(OWN_LIMITS.map((name) => [name, String(person[name] ?? '')])) as PersonDraft;
}

/** Returns the edited fields as a request of the API. */
export function personChanges(draft: PersonDraft, was: PersonDraft): ChangePersonDto {
  const edited = Object.entries(editsOf(draft, was)) as [OwnLimit, string][];
  return Object.fromEntries(edited.map(([name, text]) => [name, sent(name, text)]));
}

/** Converts a field. Text that is not a number is sent unchanged, so that the API explains the error. */
function sent(name: OwnLimit, text: string): string | number | null {
  if (text === '') return null;
  return REPLACED.get(name)?.kind === 'count' && /^\d+$/.test(text) ? Number(text) : text;
}

/** Returns the client's default for its people. */
export function defaultOf(client: ClientDto, name: OwnLimit): string | number | null {
  const of = REPLACED.get(name);
  return of ? client[of.name] : null;
}

/** Describes the client's default for its people: `$10.00`, `no limit`. */
export const defaultInWords = (client: ClientDto, name: OwnLimit) =>
  limitInWords(name, defaultOf(client, name) ?? '');

/** Describes the limits of a person: `Daily cap: $50.00; Requests per minute: 5`. Empty if there are none. */
export function ownLimitsInWords(person: PersonDto): string {
  const own = OWN_LIMITS.filter((name) => person[name] !== null);
  return own.map((name) => `${LABELS[name]}: ${limitInWords(name, person[name] ?? '')}`).join('; ');
}

/** Names a person. People have no name if they were erased, or revoked before their first call. */
export const personWords = ({ id, name }: Pick<PersonDto, 'id' | 'name'>) => name ?? `…${id.slice(-12)}`;
