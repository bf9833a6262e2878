-- Beneficiaries: whom a client may pay, and whom it never pays.

INSERT INTO migration_compatibility VALUES ('20261126000000_beneficiaries', '20261124000000_init');

ALTER TABLE client
  ADD COLUMN beneficiaries_only boolean NOT NULL DEFAULT FALSE, -- whether it pays only recipients that are registered as allowed
  -- A payout to a recipient that was registered less than so many seconds ago needs an approval; null: none does
  ADD COLUMN beneficiary_cool_off_seconds integer CHECK (beneficiary_cool_off_seconds > 0),
  -- Whether it has blocked recipients. Admission reads the register only of clients that use it. Whoever changes the register locks
  -- the client and keeps this column right, so a caller that was looked up before is looked up again.
  ADD COLUMN blocks_recipients boolean NOT NULL DEFAULT FALSE;

-- The register of each client. A recipient may be on both lists; then it is blocked. This is work, not a record: each change is an act.
CREATE TABLE beneficiary (
  id            uuid PRIMARY KEY,
  client_id     uuid NOT NULL REFERENCES client (id),
  list          text NOT NULL CHECK (list IN ('allowed', 'blocked')),
  kind          text NOT NULL CHECK (kind IN ('email', 'phone', 'handle', 'receiver')),
  recipient     bytea NOT NULL, -- SHA-256 of the client and the recipient in the one spelling of src/access/clients/register-writes.ts
  masked        text, -- for people; null: erased. A blocked recipient stays blocked
  registered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (recipient, list) -- the recipient includes the client
);
CREATE INDEX beneficiary_client ON beneficiary (client_id, id);

GRANT SELECT, INSERT, DELETE ON beneficiary TO payout_proxy;

-- The verdict of the screening service when a held call was approved; null: none was asked. Before admission, the request records it.
ALTER TABLE decision ADD COLUMN screening text CHECK (screening IN ('allow', 'review'));

-- The actions of all migrations so far.
ALTER TABLE activity DROP CONSTRAINT activity_action_check, ADD CONSTRAINT activity_action_check CHECK (action IN (
  'client_created', 'limits_changed', 'scopes_changed', 'operations_changed', 'key_issued', 'key_revoked', 'wallet_low',
  'wallet_recovered', 'key_paid_twice', 'database_recovered', 'change_requested', 'change_approved', 'change_rejected',
  'emergency_change', 'dual_control_changed', 'beneficiary_added', 'beneficiary_removed', 'configuration_changed'));
