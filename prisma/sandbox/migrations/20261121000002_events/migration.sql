-- The outbox of events: one for each status change that commits while there is a receiver.
CREATE TABLE "events" (
    "id" TEXT NOT NULL DEFAULT 'evt_' || replace(gen_random_uuid()::text, '-', ''),
    "status_change_id" BIGINT NOT NULL,
    "due_at" TIMESTAMPTZ(3) DEFAULT clock_timestamp(),
    "delivered_at" TIMESTAMPTZ(3),
    "tries" INTEGER NOT NULL DEFAULT 0,
    "attempts" JSONB NOT NULL DEFAULT '[]',

    CONSTRAINT "events_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "events_due" ON "events" ("due_at") WHERE "due_at" IS NOT NULL;

-- Has its one row while events are sent anywhere.
CREATE TABLE "events_wanted" (
    "wanted" BOOLEAN NOT NULL,

    CONSTRAINT "events_wanted_pkey" PRIMARY KEY ("wanted")
);

-- Written in the transaction of the change itself. The IDs of status changes are not assigned in the order of their
-- commits, so a reader that remembers the last ID would miss some.
CREATE FUNCTION "note_events"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO events (status_change_id) SELECT id FROM changed WHERE EXISTS (SELECT FROM events_wanted) ORDER BY id;
  RETURN NULL;
END $$;
CREATE TRIGGER "status_changes_note_events" AFTER INSERT ON "status_changes"
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "note_events"();
