import { MemberRow } from '../../../../src/journal/records/request-table';

/** Row of a fictitious member, as in docs/internals/guides/add-a-member-of-a-record.md. */
export const AUTHENTICATED_BY = {
  authenticated_by: {
    of: ({ caller }) => caller.credential.kind,
    intent: 'text',
    refusal: 'text',
    text: 'How the caller authenticated.',
    since: 1,
  },
} as const satisfies Record<string, MemberRow>;
