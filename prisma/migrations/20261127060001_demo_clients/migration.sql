-- The sandbox that a demo client may pay with: SHA-256 of the sandbox's address and key. Empty if it is not known, and
-- null for every other client. A start beside another upstream is refused while a demo client has a valid key.
ALTER TABLE client ADD COLUMN demo_of bytea;
