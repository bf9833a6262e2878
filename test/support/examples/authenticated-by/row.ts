import { MemberRow } from '../../../../src/journal/records/request-table';

/** The row of a made-up member, as docs/internals/guides/add-a-member-of-a-record.md shows it. */
export const AUTHENTICATED_BY = {
  authenticated_by: {
    of: ({ caller }) => caller.credential.kind,
    intent: 'text',
    refusal: 'text',
    text: 'How the caller authenticated.',
    since: 1,
  },
} as const satisfies Record<string, MemberRow>;
