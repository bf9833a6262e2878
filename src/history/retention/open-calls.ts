/**
 * Which calls are not over: in doubt, in progress or waiting for an approval. What they hold is still needed, to send them or to
 * find out what became of them. A condition on `i`, a row of intent; audit/outcome.ts says the same in words.
 */
export const IS_OPEN = `(
  NOT EXISTS (SELECT FROM resolution s WHERE s.intent_id = i.id)
  AND NOT EXISTS (SELECT FROM outcome o WHERE o.intent_id = i.id AND o.kind <> 'unknown')
  AND (EXISTS (SELECT FROM outcome o WHERE o.intent_id = i.id) OR (
    NOT EXISTS (SELECT FROM refusal r WHERE r.id = i.id)
    AND NOT (i.held_for IS NOT NULL AND (
      EXISTS (SELECT FROM decision d WHERE d.intent_id = i.id AND d.verdict = 'rejected')
      OR (i.expires_at <= clock_timestamp() AND NOT EXISTS (SELECT FROM decision d WHERE d.intent_id = i.id)))))))`;
