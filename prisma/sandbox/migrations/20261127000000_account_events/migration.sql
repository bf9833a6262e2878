-- An account may have an address of its own for events, as accounts of a provider's portal do.
ALTER TABLE accounts
  ADD COLUMN events_url    text, -- null: the address of the settings
  ADD COLUMN events_secret text, -- null: the secret of the settings
  ADD CONSTRAINT accounts_events_secret_with_url CHECK (events_secret IS NULL OR events_url IS NOT NULL);

-- The accounts whose events go to an address of their own. A sub-account's go to that of its parent.
CREATE VIEW event_receivers AS
SELECT accounts.id AS account_id, owner.events_url AS url, owner.events_secret AS secret
FROM accounts JOIN accounts AS owner ON owner.id = coalesce(accounts.parent_id, accounts.id)
WHERE owner.events_url IS NOT NULL;

-- Now also for status changes of such accounts while the settings have no receiver.
CREATE OR REPLACE FUNCTION note_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO events (status_change_id)
  SELECT changed.id FROM changed JOIN transactions ON transactions.id = changed.transaction_id
  WHERE EXISTS (SELECT FROM events_wanted) OR EXISTS (SELECT FROM event_receivers WHERE account_id = issuer_id)
  ORDER BY changed.id;
  RETURN NULL;
END
$$;
