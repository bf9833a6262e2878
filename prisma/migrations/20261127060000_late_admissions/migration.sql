-- A statement can outlive the request that sent it: a frozen server carries it out when it wakes up. By then, the call
-- may have been answered with 503 and refused on record. Such a call must not be admitted any more.

-- Returns whether none of these calls is refused on record. Call it after their clients are locked. It is VOLATILE, so
-- that its statement sees everything that was committed until then.
CREATE FUNCTION none_refused(ids uuid[]) RETURNS boolean LANGUAGE plpgsql VOLATILE SET enable_seqscan = off
  SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN NOT EXISTS (SELECT FROM refusal WHERE id = ANY (ids));
END
$$;
