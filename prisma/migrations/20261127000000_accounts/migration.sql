-- Accounts at the upstream. Each client belongs to one. Records of `main` name no account, like those of programs before this migration.

INSERT INTO migration_compatibility VALUES ('20261127000000_accounts', '20261124000000_init');

ALTER TABLE client ADD COLUMN account text NOT NULL DEFAULT 'main' CHECK (account ~ '^[a-z][a-z0-9-]{0,23}$');

-- Its calls, its caps and what it owns are of one account. A client of another account is another client.
CREATE FUNCTION forbid_account_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a client keeps its upstream account' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER client_keeps_account BEFORE UPDATE ON client
FOR EACH ROW WHEN (NEW.account <> OLD.account) EXECUTE FUNCTION forbid_account_change();

-- The account that was read. Null: main.
ALTER TABLE source_read ADD COLUMN account text CHECK (account <> 'main');

-- The account that sent an event. Null: main. The ID of an event of another account begins with the account.
ALTER TABLE upstream_event ADD COLUMN account text CHECK (account <> 'main');

-- For auditors. A call is of the account of its client.
CREATE OR REPLACE VIEW audit.clients AS SELECT id, name, scopes, created_at, account FROM public.client;
