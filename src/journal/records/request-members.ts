import { MemberRow, REQUEST_TABLE } from './request-table';

type Table = typeof REQUEST_TABLE;
type Name = keyof Table;
type NamesWith<Property extends object> = {
  [Member in Name]: Table[Member] extends Property ? Member : never;
}[Name];

/** The value of a member in JSON, without null and undefined. */
type ValueOf<Member extends Name> = AsJson<NonNullable<ReturnType<Table[Member]['of']>>>;
type AsJson<Value> = Value extends Date | Buffer ? string : Value;
/** The type of a missing value, if a member may lack one. */
type MissingValue<Member extends Name, None> =
  Extract<ReturnType<Table[Member]['of']>, null | undefined> extends never ? never : None;

/** The written members of a request's record. */
export type WrittenMembers = { [Member in Name]: ValueOf<Member> | MissingValue<Member, undefined> };

/** The columns that refusals share with requests, as JSON. */
export type RefusalMembers = {
  [Member in NamesWith<{ refusal: string }>]: ValueOf<Member> | MissingValue<Member, null>;
};

/** The members that the API passes through. */
export type ShownName = NamesWith<{ text: string }>;
export type ShownMembers = { [Member in ShownName]: ValueOf<Member> | MissingValue<Member, null> };

/** All members, as a list. */
export const REQUEST_MEMBERS = Object.entries<MemberRow>(REQUEST_TABLE).map(([name, row]) => ({
  name,
  ...row,
}));

/** The members with a column of `refusal`. */
export const REFUSAL_MEMBERS = REQUEST_MEMBERS.filter((member) => member.refusal !== undefined);

/** The columns of `intent` and of `refusal` with the values of members. */
export const INTENT_COLUMNS = REQUEST_MEMBERS.flatMap(({ name, intent: type }) =>
  type ? [{ name, type }] : [],
);
export const REFUSAL_COLUMNS = REFUSAL_MEMBERS.map(({ name, refusal: type }) => ({ name, type }));

/** The members that were added later, oldest first. */
export const LATER_MEMBERS = REQUEST_MEMBERS.filter(({ since }) => since).sort(
  (one, other) => one.since! - other.since!,
);

/** The members that the API passes through. */
export const SHOWN_MEMBERS = REQUEST_MEMBERS.filter(({ text }) => text !== undefined);
