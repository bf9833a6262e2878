import { itemsSql } from '../../journal/records/document-sql';
import { Prisma } from '../../platform/database/generated/client';

/** Items of the request as JSON. Null if empty. */
const SENT_ITEMS = Prisma.sql`nullif(${Prisma.raw(itemsSql('intent', 'intent.record'))}, '')::jsonb`;

/**
 * The items of one call, of `intent` and `intent_body`, with their recipients. The views `intent_item`,
 * `item_recipient` and `outcome_item` would expand the documents again for each item, and sort the results to
 * join them.
 */
export const ITEMS_OF_CALL = Prisma.sql`
  SELECT (n.nth - 1)::integer AS position, n.amount_usd, n.reference, n.receiver, r.email, r.phone, r.handle
  FROM ROWS FROM (jsonb_to_recordset(${SENT_ITEMS}) AS (amount_usd numeric, reference text, receiver text))
    WITH ORDINALITY AS n(amount_usd, reference, receiver, nth)
  LEFT JOIN jsonb_to_recordset(intent_body.people::jsonb)
    AS r(position integer, email text, phone text, handle text) ON r.position = n.nth - 1`;
