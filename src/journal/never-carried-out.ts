/**
 * Of which calls it is certain that nothing was carried out, and so whose idempotency key and content are free again: nothing
 * was sent; the upstream refused our key or limited us before it looked at what was asked (REFUSED_AT_THE_DOOR of
 * upstream/answer.ts); it was settled that nothing came of it; or it was refused because its commit was reported as failed,
 * but was not. A condition on `i`, `o` and `s`: rows of intent, and of its outcome and its resolution, if any.
 */
export const NEVER_CARRIED_OUT = `(
  o.kind = 'not_sent' OR (o.kind = 'rejected' AND o.upstream_status IN (401, 403, 429))
  OR (coalesce(o.kind, 'unknown') = 'unknown' AND s.verdict = 'not_executed')
  OR (o.kind IS NULL AND EXISTS (SELECT FROM refusal r WHERE r.id = i.id)))`;
