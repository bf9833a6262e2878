-- Of a demo client, the sandbox that it may pay with: SHA-256 of the sandbox's address and key. Empty where that is not known; null
-- for every other client. A start beside another upstream refuses as long as a key of a demo client opens.
ALTER TABLE client ADD COLUMN demo_of bytea;
