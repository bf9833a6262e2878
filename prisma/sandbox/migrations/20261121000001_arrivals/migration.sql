-- The ground truth: each request that arrived, and whether it was carried out.
CREATE TABLE "arrivals" (
    "seq" BIGSERIAL NOT NULL,
    "operation" TEXT NOT NULL,
    "query" TEXT NOT NULL,
    "body" TEXT,
    "account_id" TEXT,
    "fault" TEXT,
    "arrived_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "processed" BOOLEAN NOT NULL DEFAULT false,
    "processed_at" TIMESTAMPTZ(3),
    "chi_refs" TEXT[] NOT NULL DEFAULT '{}',
    "answered_at" TIMESTAMPTZ(3),
    "http_status" INTEGER,

    CONSTRAINT "arrivals_pkey" PRIMARY KEY ("seq"),
    CONSTRAINT "arrivals_processed_once_it_was" CHECK ("processed" = ("processed_at" IS NOT NULL)),
    CONSTRAINT "arrivals_answered_with_a_status" CHECK (("answered_at" IS NULL) = ("http_status" IS NULL))
);
-- Each row is changed twice within moments. Free space in its page keeps these changes out of the index.
ALTER TABLE "arrivals" SET (fillfactor = 70);
