-- Every change of a client, its limits, its scopes or its keys is a record. Rows are only added, and sealed.
CREATE TABLE activity (
  id               uuid PRIMARY KEY, -- UUIDv7
  action           text NOT NULL CHECK (action IN ('client_created', 'limits_changed', 'scopes_changed', 'operations_changed',
    'key_issued', 'key_revoked')),
  target_client_id uuid NOT NULL, -- the client whose limits, scopes or key changed
  target_client    text NOT NULL, -- its name, which never changes
  target_key_id    uuid, -- the key that was issued or revoked
  before           text, -- the changed fields as they were, canonical JSON (RFC 8785); null: the target was created
  after            text NOT NULL, -- the same fields as they are now
  via              text NOT NULL CHECK (via IN ('api', 'console', 'cli', 'start')),
  client_id        uuid, -- who changed it; null: the command line, or the proxy at its start
  key_id           uuid,
  actor            text, -- the person; for the command line, the user of the operating system
  client_address   text,
  request_id       text,
  call_id          uuid, -- X-Call-Id of the request
  reason           text,
  acted_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  tx               xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX activity_tx ON activity (tx, id);
CREATE INDEX activity_acted ON activity (acted_at, id);
CREATE INDEX activity_target ON activity (target_client_id, acted_at);

CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON activity FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON activity EXECUTE FUNCTION refuse_change();

CREATE VIEW audit.activities AS
  SELECT id, action, target_client_id, target_client, target_key_id, audit.mask_contacts(before) AS before,
    audit.mask_contacts(after) AS after, via, client_id, key_id, audit.mask_contacts(actor) AS actor, client_address,
    audit.mask_contacts(request_id) AS request_id, call_id, audit.mask_prose(reason) AS reason, acted_at
  FROM public.activity;

GRANT SELECT, INSERT ON activity TO payout_proxy;
GRANT SELECT ON activity TO payout_sealer;
GRANT SELECT ON audit.activities TO payout_auditor;
