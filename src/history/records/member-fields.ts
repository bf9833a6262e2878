import { SHOWN_MEMBERS } from '../../journal/request-members';
import { described, nullable, SIGNED_USD, TEXT, UUID } from '../../platform/schema/fields';

const SCHEMAS: Record<string, object> = { uuid: UUID, numeric: SIGNED_USD, text: TEXT };

/** The members of a request that the API passes through, and the decorators that describe them. */
export const MEMBER_FIELDS = SHOWN_MEMBERS.map(
  ({ name, intent, refusal, values = refusal ?? intent, always, text = '' }) => {
    const schema = typeof values === 'object' ? { ...TEXT, enum: [...values] } : (SCHEMAS[values ?? 'text'] ?? TEXT);
    return [name, (always ? described : nullable)(schema, text)] as const;
  },
);
