-- What payout_auditor may see: the records, with people masked as GET /v1/audit shows them without audit:pii. It reads these
-- views and nothing else; bodies, recipients as they are, keys and salts are in none of them.
-- A person's login: CREATE ROLE ada LOGIN PASSWORD '…' IN ROLE payout_auditor;

CREATE SCHEMA audit;

-- Masks ---------------------------------------------------------------------------------------------------------------
-- As src/platform/privacy/contacts.ts has them; a test compares the two.

CREATE FUNCTION audit.mask_email(email text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN strpos(email, '@') > 2 THEN left(email, 1) ELSE '' END || '••@' || substring(email FROM '[^@]*$')
$$;

CREATE FUNCTION audit.mask_phone(phone text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT left(phone, 4) || '••••' || substr(phone, greatest(8, length(phone) - 4) + 1)
$$;

CREATE FUNCTION audit.mask_handle(handle text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT left(handle, CASE WHEN length(handle) > 3 THEN 2 ELSE 1 END) || '••'
$$;

CREATE FUNCTION audit.mask_contacts(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  -- White space in ECMAScript.
  blank CONSTANT text := '\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';
  pattern CONSTANT text := '(?:[^' || blank || '"''<>()[\],;:@/=]{1,64}@[^' || blank || '"''<>()[\],;:@]{1,255}'
    || '|\+[0-9](?:[' || blank || '().-]?[0-9]){6,14}'
    || '|(?<![A-Za-z0-9_.])@[A-Za-z0-9_][A-Za-z0-9_.-]{0,63})';
  between text[];
  contact text;
  masked text := '';
  place integer := 0;
  after integer := 1;
BEGIN
  IF strpos(value, '@') = 0 AND strpos(value, '+') = 0 THEN
    RETURN value;
  END IF;
  between := regexp_split_to_array(value, pattern);
  FOR contact IN SELECT match[1] FROM regexp_matches(value, '(' || pattern || ')', 'g') AS match LOOP
    place := place + 1;
    after := after + length(between[place]) + length(contact);
    masked := masked || between[place] || CASE
      -- Already masked.
      WHEN strpos(contact, '••@') > 0 OR (length(contact) = 2 AND substr(value, after, 2) = '••') THEN contact
      WHEN left(contact, 1) = '+' AND strpos(contact, '@') = 0 THEN audit.mask_phone(contact)
      WHEN left(contact, 1) = '@' THEN audit.mask_handle(contact)
      ELSE audit.mask_email(contact) END;
  END LOOP;
  RETURN masked || between[place + 1];
END
$$;

CREATE FUNCTION audit.mask_prose(value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT regexp_replace(audit.mask_contacts(value), '(?<![A-Za-z0-9_.+-])[0-9]{7,15}(?![A-Za-z0-9_-])', '••••', 'g')
$$;

-- Records mask queries. Older ones may have a contact in escaped form.
CREATE FUNCTION audit.mask_query(query text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN query ~* '%(40|2b)' AND query !~* '%e2%80%a2' THEN '••••' ELSE audit.mask_contacts(query) END
$$;

-- Views ---------------------------------------------------------------------------------------------------------------

CREATE VIEW audit.clients AS SELECT id, name, scopes, created_at FROM public.client;

CREATE VIEW audit.calls AS
  SELECT id, client_id, key_id, operation, audit.mask_contacts(request_id) AS request_id, traceparent, client_address,
    audit.mask_query(query) AS query, item_count, total_usd, coverage, caused_by,
    audit.mask_contacts(idempotency_key) AS idempotency_key, audit.mask_contacts(actor) AS actor, held_for, expires_at,
    reserved_on, process, body_commitment, received_at, recorded_at
  FROM public.intent;

CREATE VIEW audit.items AS
  SELECT i.intent_id AS call_id, i.position, i.recipient_field, i.handle_ignored, audit.mask_email(p.email) AS email,
    audit.mask_phone(p.phone) AS phone, audit.mask_handle(p.handle) AS handle, i.amount_usd,
    audit.mask_contacts(i.country) AS country, audit.mask_contacts(i.network_code) AS network_code,
    audit.mask_contacts(i.reference) AS reference, audit.mask_contacts(i.receiver) AS receiver,
    audit.mask_contacts(i.wallet) AS wallet, audit.mask_contacts(i.upstream_ref) AS upstream_ref,
    i.email_commitment, i.phone_commitment, i.handle_commitment
  FROM public.intent_item i LEFT JOIN public.item_recipient p ON p.intent_id = i.intent_id AND p.position = i.position;

CREATE VIEW audit.outcomes AS
  SELECT intent_id AS call_id, kind, failure, upstream_status, audit.mask_contacts(content_type) AS content_type, retry_after,
    body_commitment, attempts, tries, answer_of, sent_at, answered_at, upstream_ms, recorded_at
  FROM public.outcome;

CREATE VIEW audit.upstream_items AS
  SELECT intent_id AS call_id, ordinal, position, audit.mask_contacts(upstream_ref) AS upstream_ref,
    audit.mask_contacts(upstream_id) AS upstream_id, audit.mask_contacts(batch_ref) AS batch_ref,
    audit.mask_prose(status) AS status, amount_usd
  FROM public.outcome_item;

CREATE VIEW audit.refusals AS
  SELECT id AS call_id, client_id, key_id, operation, audit.mask_contacts(request_id) AS request_id, traceparent,
    client_address, status, code, audit.mask_contacts(detail) AS detail, audit.mask_contacts(faults::text) AS faults,
    fault_count, audit.mask_contacts(idempotency_key) AS idempotency_key, audit.mask_contacts(actor) AS actor, first_call_id,
    received_at, recorded_at
  FROM public.refusal;

CREATE VIEW audit.decisions AS
  SELECT intent_id AS call_id, kind, audit.mask_prose(reason) AS reason, body_commitment, client_id, key_id,
    audit.mask_contacts(actor) AS actor, decided_at, reserved_on
  FROM public.decision;

-- The resolutions that hold; audit.resolution_history has those that were superseded, too.
CREATE VIEW audit.resolutions AS
  SELECT id, intent_id AS call_id, supersedes, outcome, audit.mask_prose(reason) AS reason, client_id, key_id,
    audit.mask_contacts(actor) AS actor, resolved_at
  FROM public.current_resolution;

CREATE VIEW audit.resolution_history AS
  SELECT id, intent_id AS call_id, supersedes, outcome, audit.mask_prose(reason) AS reason, client_id, key_id,
    audit.mask_contacts(actor) AS actor, resolved_at
  FROM public.resolution_history;

CREATE VIEW audit.stops AS
  SELECT s.id, s.stops_client_id, s.stops_operation, audit.mask_prose(s.reason) AS reason, s.client_id, s.key_id,
    audit.mask_contacts(s.actor) AS actor, s.stopped_at, l.client_id AS lifted_by_client_id, l.key_id AS lifted_by_key_id,
    audit.mask_contacts(l.actor) AS lifted_by_actor, l.lifted_at
  FROM public.stop s LEFT JOIN public.stop_lift l ON l.stop_id = s.id;

CREATE VIEW audit.reservation_releases AS SELECT intent_id AS call_id, released_at FROM public.reservation_release;

CREATE VIEW audit.correction_releases AS
  SELECT correction_id, intent_id AS call_id, released_at FROM public.correction_release;

CREATE VIEW audit.answer_shapes AS
  SELECT id, operation, http_status, fingerprint, shape, first_call_id, first_seen_at FROM public.answer_shape;

CREATE VIEW audit.accesses AS
  SELECT a.id, a.client_id, a.key_id, audit.mask_contacts(a.actor) AS actor, a.route, a.call_id, a.call_ids, a.filters,
    a.filters_commitment, a.revealed, coalesce(e.rows, a.rows) AS rows, audit.mask_contacts(a.request_id) AS request_id,
    a.client_address, a.read_at, e.complete, e.sha256, e.checkpoint_size, e.ended_at
  FROM public.access a LEFT JOIN public.access_end e ON e.access_id = a.id;

CREATE VIEW audit.erasures AS
  SELECT id, kind, audit.mask_prose(reason) AS reason, actor, places, erased_at, signature FROM public.erasure;

CREATE VIEW audit.prunings AS
  SELECT id, what, month, audit.mask_prose(reason) AS reason, actor, kept, rows, checkpoint, pruned_at, signature
  FROM public.pruning;

CREATE VIEW audit.checkpoints AS SELECT size, root, note, sealed_at, complete_until FROM public.checkpoint;

CREATE VIEW audit.leaves AS SELECT index, kind, record_id, hash FROM public.log_leaf;

-- Rights --------------------------------------------------------------------------------------------------------------

GRANT USAGE ON SCHEMA audit TO payout_auditor;
GRANT SELECT ON ALL TABLES IN SCHEMA audit TO payout_auditor;
