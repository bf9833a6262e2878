-- Personal keys that two persons agreed to are claimed, and stops are lifted by two.

INSERT INTO migration_compatibility VALUES ('20261128192000_claimed_keys', '20261124000000_init');

-- A personal key that was approved has no secret until its person claims it. Its hash is random until then, so nothing opens it. The
-- change says who requested and approved it.
ALTER TABLE api_key
  ADD COLUMN change_id uuid, -- the change that issued it; null: it was issued without a second person
  ADD COLUMN claim_sha256 bytea, -- of the claim code; null: nothing is left to claim
  ADD COLUMN claim_until timestamptz,
  ADD COLUMN claimed_at timestamptz,
  ADD COLUMN claimed_by text[] NOT NULL DEFAULT '{}', -- who may have seen the secret: its person, or those who had the claim code
  ADD CONSTRAINT api_key_claim CHECK ((claim_sha256 IS NULL OR claimed_at IS NULL) AND (claimed_at IS NULL) = (claimed_by = '{}'));
CREATE UNIQUE INDEX api_key_claim_code ON api_key (claim_sha256) WHERE claim_sha256 IS NOT NULL;

-- A stop may concern no client.
ALTER TABLE pending_change
  ALTER COLUMN client DROP NOT NULL,
  DROP CONSTRAINT pending_change_kind_check,
  ADD CONSTRAINT pending_change_kind_check CHECK (kind IN ('create_client', 'change_client', 'issue_key', 'lift_stop'));

-- key_claimed: a person has got the secret of a key, or whoever had its claim code.
ALTER TABLE activity DROP CONSTRAINT activity_action_check, ADD CONSTRAINT activity_action_check CHECK (action IN (
  'client_created', 'limits_changed', 'scopes_changed', 'operations_changed', 'key_issued', 'key_revoked', 'wallet_low',
  'wallet_recovered', 'key_paid_twice', 'database_recovered', 'change_requested', 'change_approved', 'change_rejected',
  'emergency_change', 'dual_control_changed', 'beneficiary_added', 'beneficiary_removed', 'configuration_changed',
  'provider_changed', 'person_added', 'person_limits_changed', 'person_revoked', 'ephemeral_key_issued',
  'ephemeral_key_revoked', 'key_claimed'));
